"""8-bit ONNX files with float activations, for onnxruntime."""

import numpy as np
from onnx import helper, numpy_helper


def with_float_activations(model):
    graph = model.graph
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    producers = {output: node for node in graph.node for output in node.output}
    nodes = []
    replaced = {}
    for node in graph.node:
        if node.op_type != "MatMulInteger":
            continue
        codes, zero = constants[node.input[1]], constants[node.input[3]]
        scale = constants[node.input[1].removesuffix("_quantized") + "_scale"]
        name = node.input[1] + "_float"
        value = (codes.astype(np.float32) - zero.astype(np.float32)) * scale
        graph.initializer.append(numpy_helper.from_array(value.astype(np.float32), name))
        cast = next(other for other in graph.node if node.output[0] in other.input)
        product = next(other for other in graph.node if cast.output[0] in other.input)
        activation = producers[node.input[0]].input[0]
        replaced[product.output[0]] = helper.make_node("MatMul", [activation, name], [product.output[0]], name=node.name + "_float")
    for node in graph.node:
        nodes.append(replaced.get(node.output[0], node))
    del graph.node[:]
    graph.node.extend(nodes)
    return model
