"""A WebKitGTK web view whose pages come by a scheme of the app's own, as in Tauri and in other shells that are made of web views.

web_view.py SCHEME FOLDER: opens SCHEME://localhost/index.html, serves the folder's files by that scheme, and prints the page's first title.
Through the C library itself (ctypes): WebKitGTK's driver brings that, and no bindings.
"""

import ctypes
import mimetypes
import os
import sys
from ctypes import CFUNCTYPE, c_char_p, c_int, c_int64, c_uint, c_uint32, c_void_p

SECONDS = 90

webkit = ctypes.CDLL("libwebkit2gtk-4.1.so.0")
gtk = ctypes.CDLL("libgtk-3.so.0")
gobject = ctypes.CDLL("libgobject-2.0.so.0")
gio = ctypes.CDLL("libgio-2.0.so.0")
glib = ctypes.CDLL("libglib-2.0.so.0")

OnRequest = CFUNCTYPE(None, c_void_p, c_void_p)
OnNotify = CFUNCTYPE(None, c_void_p, c_void_p, c_void_p)
OnTime = CFUNCTYPE(c_int, c_void_p)


def declare(library, name, result, *arguments):
    function = getattr(library, name)
    function.restype, function.argtypes = result, arguments
    return function


gtk_init = declare(gtk, "gtk_init", None, c_void_p, c_void_p)
gtk_main = declare(gtk, "gtk_main", None)
gtk_main_quit = declare(gtk, "gtk_main_quit", None)
gtk_window_new = declare(gtk, "gtk_window_new", c_void_p, c_int)
gtk_container_add = declare(gtk, "gtk_container_add", None, c_void_p, c_void_p)
gtk_widget_show_all = declare(gtk, "gtk_widget_show_all", None, c_void_p)
default_context = declare(webkit, "webkit_web_context_get_default", c_void_p)
register_scheme = declare(webkit, "webkit_web_context_register_uri_scheme", None, c_void_p, c_char_p, OnRequest, c_void_p, c_void_p)
security_manager = declare(webkit, "webkit_web_context_get_security_manager", c_void_p, c_void_p)
scheme_is_secure = declare(webkit, "webkit_security_manager_register_uri_scheme_as_secure", None, c_void_p, c_char_p)
request_path = declare(webkit, "webkit_uri_scheme_request_get_path", c_char_p, c_void_p)
finish = declare(webkit, "webkit_uri_scheme_request_finish", None, c_void_p, c_void_p, c_int64, c_char_p)
finish_error = declare(webkit, "webkit_uri_scheme_request_finish_error", None, c_void_p, c_void_p)
new_view = declare(webkit, "webkit_web_view_new", c_void_p)
load_uri = declare(webkit, "webkit_web_view_load_uri", None, c_void_p, c_char_p)
title_of = declare(webkit, "webkit_web_view_get_title", c_char_p, c_void_p)
connect = declare(gobject, "g_signal_connect_data", c_uint, c_void_p, c_char_p, OnNotify, c_void_p, c_void_p, c_int)
unref = declare(gobject, "g_object_unref", None, c_void_p)
new_bytes = declare(glib, "g_bytes_new", c_void_p, c_char_p, ctypes.c_size_t)
free_bytes = declare(glib, "g_bytes_unref", None, c_void_p)
new_stream = declare(gio, "g_memory_input_stream_new_from_bytes", c_void_p, c_void_p)
new_error = declare(glib, "g_error_new_literal", c_void_p, c_uint32, c_int, c_char_p)
free_error = declare(glib, "g_error_free", None, c_void_p)
quark = declare(glib, "g_quark_from_string", c_uint32, c_char_p)
add_timeout = declare(glib, "g_timeout_add_seconds", c_uint, c_uint, OnTime, c_void_p)

scheme, folder = sys.argv[1:]


@OnRequest
def on_request(request, _):
    path = os.path.join(folder, request_path(request).decode().lstrip("/"))
    if not os.path.isfile(path):
        error = new_error(quark(b"app"), 404, b"not found")
        finish_error(request, error)
        free_error(error)
        return
    with open(path, "rb") as file:
        content = file.read()
    data = new_bytes(content, len(content))
    stream = new_stream(data)
    kind = "application/wasm" if path.endswith(".wasm") else mimetypes.guess_type(path)[0] or "application/octet-stream"
    finish(request, stream, len(content), kind.encode())
    unref(stream)
    free_bytes(data)


@OnNotify
def on_title(view, _, __):
    title = title_of(view)
    if title:
        print(title.decode(), flush=True)
        gtk_main_quit()


@OnTime
def on_timeout(_):
    print("the page set no title", file=sys.stderr, flush=True)
    os._exit(1)


gtk_init(None, None)
context = default_context()
register_scheme(context, scheme.encode(), on_request, None, None)
scheme_is_secure(security_manager(context), scheme.encode())
view = new_view()
window = gtk_window_new(0)
gtk_container_add(window, view)
connect(view, b"notify::title", on_title, None, None, 0)
gtk_widget_show_all(window)
load_uri(view, f"{scheme}://localhost/index.html".encode())
add_timeout(SECONDS, on_timeout, None)
gtk_main()
