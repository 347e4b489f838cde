"""8-bit ONNX files with float activations, for onnxruntime."""

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

PRODUCTS = {"MatMulInteger": "MatMul", "ConvInteger": "Conv"}


def with_float_activations(model):
    graph = model.graph
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    producers = {output: node for node in graph.node for output in node.output}
    nodes = []
    replaced = {}
    made_before = {}  # nodes by the output of the node that they precede

    def activation_of(name, before):
        """The float value of a quantised one; quantisers also let some operators, such as Transpose, work on integers."""
        producer = producers[name]
        if producer.op_type == "DynamicQuantizeLinear":
            return producer.input[0]
        copy = onnx.NodeProto()
        copy.CopyFrom(producer)
        copy.name, copy.output[0] = f"{producer.name}_{len(made_before)}_float", f"{name}_{len(made_before)}_float"
        made_before.setdefault(before, [])
        copy.input[0] = activation_of(producer.input[0], before)
        made_before[before].append(copy)
        return copy.output[0]

    for node in graph.node:
        if node.op_type not in PRODUCTS or node.input[1] not in constants:
            continue
        codes = constants[node.input[1]]
        zero = constants[node.input[3]] if len(node.input) > 3 else np.zeros((), codes.dtype)
        scale = constants[node.input[1].removesuffix("_quantized") + "_scale"]
        name = node.input[1] + "_float"
        value = (codes.astype(np.float32) - zero.astype(np.float32)) * scale
        graph.initializer.append(numpy_helper.from_array(value.astype(np.float32), name))
        cast = next(other for other in graph.node if node.output[0] in other.input)
        product = next(other for other in graph.node if cast.output[0] in other.input)
        activation = activation_of(node.input[0], product.output[0])
        attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        made = helper.make_node(PRODUCTS[node.op_type], [activation, name], [product.output[0]], name=node.name + "_float", **attributes)
        replaced[product.output[0]] = made
    for node in graph.node:
        nodes += [*made_before.get(node.output[0], []), replaced.get(node.output[0], node)]
    del graph.node[:]
    graph.node.extend(nodes)
    return model


def results_of(path, ids, choice=False):
    """The file's outputs for one text, with float activations: one list, in which the columns of question answering are start and end."""
    model = with_float_activations(onnx.load(str(path)))
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")  # float32 activations also after DequantizeLinear
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    given = {}
    for one in session.get_inputs():
        value = np.array([{"input_ids": ids, "attention_mask": [1] * len(ids)}.get(one.name, [0] * len(ids))], np.int64)
        given[one.name] = value[None] if choice else value
    outputs = [output[0] for output in session.run(None, given)]
    is_question = len(outputs) == 2 and outputs[0].shape == outputs[1].shape == (len(ids),)
    result = np.stack(outputs, 1) if is_question else outputs[0]
    return result.astype(float).ravel().tolist()
