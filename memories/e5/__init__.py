"""The packaged model: its weights, tokens and graph, run by onnxruntime."""
