"""Indexing, assignment by index, gather and scatter."""
from . import lines

KEYS = ("0", "-1", "1, 2", "(1, -1)", ":", "...", "None", "1:", ":-1", "::2", "::-1", "0, 1:", "..., 0", "0, ...", ":, None", "None, ..., 1", "1:1", "[0, 1]", "[1, 0, 1]",
        "i([0, 1])", "i([[0, 1], [1, 0]])", "i(1)", "i([-1])", "l([0])", "[0, 1], [1, 2]", "i([0, 1]), 2", ":, i([0, 2])", "i([0, 1]), :, 0", "i([0, 1]), i([1, 2])", "[True, False]",
        "b([True, False])", "x > 0", "x[:, :, 0] > 0", "True", "False", "0, x[0] > 0", "5", "-3", "0, 3", "i([5])", "1.5", "'a'", "(0, 1, 0)", "0, 0, 0, 0", "np.array([0, 1])",
        "np.int64(1)", "2:0:-1", "slice(None, None, 2)", "slice(0, 10)", "[[0, 1]]", "(slice(None), [0, 1])", "i([])", "[]", "()", "None, None", "i([0, 1]), None", "0, i([0, 1])",
        "i([0]), :, i([1])", "u8([1, 0])", "f([1])", "True, 0", "range(2)", "::0", "b([True, False, True])", ":, b([True, False, True])")
VALUES = ("7", "2.5", "f([1, 2])", "i(3)", "X(2)", "[1.0, 2.0]", "True", "f(9)")


def cases():
    for key in KEYS:
        yield f"x = X(2, 3, 2); x[{key}]"
        yield f"x = X(2, 3, 2); x[{key}] = 7; x"
        yield f"x = X(2, 3, 2); x[{key}] = X(2); x"
        yield f"x = i(np.arange(12).reshape(2, 3, 2)); x[{key}] += 1; x"
    for key in ("0", ":", "0, 1", "i([0, 1])", "x > 0", "..., 0", "[0]", ":, 1:"):
        for value in VALUES:
            yield f"x = X(2, 3, 2); x[{key}] = {value}; x"
            yield f"x = I(2, 3, 2); x[{key}] = {value}; x"
    for key in ("0", "-1", "1:", "None", "...", "i([0, 1])", "b([True, False, True])", "[0, 2]", "3", "0, 0", "True", "::-1"):
        yield f"X(3)[{key}]"
        yield f"f(2.5)[{key}]"
        yield f"X(0, 3)[{key}]"
        yield f"b([True, False, True])[{key}]"


OTHER = lines("""
x = X(2, 3); x[0][1] = 7; x
x = X(2, 3); y = x[0]; y[0] = 9; (x, y)
x = X(2, 3); y = x[:, 1]; y[0] = 9; x
x = X(2, 3); y = x[None]; y[0] = 9; x
x = X(2, 3); y = x[i([0])]; y[0] = 9; x
x = X(2, 3); y = x.view(3, 2); y[0] = 9; x
x = X(2, 3); y = x.reshape(3, 2); y[0] = 9; x
x = X(2, 3); y = x.T; y[0] = 9; x
x = X(2, 3); y = x.transpose(1, 0); y[0] = 9; x
x = X(2, 3); y = ops.transpose(x, (1, 0)); y[0] = 9; x
x = X(2, 3); y = x.flatten(); y[0] = 9; x
x = X(2, 3); y = x.squeeze(); y[0] = 9; x
x = X(2, 3); y = x.expand_dims(0); y[0] = 9; x
x = X(2, 3); y = x.copy(); y[0] = 9; x
x = X(2, 3); y = x.clone(); y[0] = 9; x
x = X(2, 3); y = x[0]; x[0, 0] = 9; y
x = X(2, 3); y = x[0]; y += 1; x
x = X(2, 3); y = x[0]; y.add_(1); x
x = X(2, 3); y = ops.split(x, 1)[0]; y[0] = 5; x
x = X(2, 3); y = x.chunk(2)[0]; y[0] = 5; x
x = X(2, 3); y = x.swapaxes(0, 1); y[0] = 5; x
x = X(2, 3); y = x; y[0] = 5; x
x = X(2, 3); x[0], x[1] = x[1], x[0]; x
p = Parameter(X(2, 3), name='p'); p[0] = 7; p
p = Parameter(X(2, 3), name='p'); p[0][1] = 7; p
p = Parameter(X(2, 3), name='p'); p[0]
len(X(2, 3))
len(f(1))
list(X(2, 2))
[float(v) for v in X(3)]
X(2, 3).item(0)
X(2, 3).item((1, 2))
X(2, 3).item(-1)
X(2, 3).item()
f(2.5).item()
i([3]).item()
b([True]).item()
X(2, 3).itemset(0, 5)
X(2, 3).itemset((1, 2), 5)
f(1).itemset(5)
X(2, 3).tolist()
f(1.5).tolist()
i([1]).tolist()
X(2, 3).index_select(0, i([1]))
X(2, 3).index_select(1, i([0, 2]))
ops.index_select(X(2, 3), 1, i([2]))
ops.index_select(X(2, 3), 0, i([[0]]))
X(2, 3).select(0, 1)
X(2, 3).select(1, -1)
X(2, 3).select(b([[True], [False]]), X(2, 3, s=1))
X(2, 3).take(i([0, 4]))
X(2, 3).take(i([0, 2]), 1)
X(2, 3).take(i([0, 2]), axis=1, mode='wrap')
X(2, 3).take(i([0, 5]), axis=1, mode='clip')
X(2, 3).gather(i([0, 2]), 1)
X(2, 3).gather(1, i([[0], [2]]))
X(2, 3).gather(0, i([[0, 1, 1]]))
ops.gather(X(2, 3), i([0, 2]), 1)
ops.gather(X(2, 3), i([[0, 1]]), 0)
ops.gather(X(2, 3), i([5]), 0)
ops.gather(X(2, 3), i([-1]), 0)
ops.gather(X(2, 3), i(1), 0)
ops.gather(X(2, 3), i([0, 2]), -1)
ops.gather(X(2, 3, 2), i([[0, 1], [1, 0]]), 1, 1)
ops.gather_elements(X(2, 3), 1, i([[0, 1], [2, 0]]))
ops.gather_elements(X(2, 3), 0, l([[0, 1, 0]]))
ops.gather_d(X(2, 3), 1, i([[0, 1], [2, 0]]))
ops.gather_nd(X(2, 3), i([[0, 1], [1, 2]]))
ops.gather_nd(X(2, 3), i([[0], [1]]))
ops.gather_nd(X(2, 3), i([0, 1]))
ops.gather_nd(X(2, 3), i([[0, 5]]))
ops.take(X(2, 3), i([0, 4]))
ops.masked_select(X(2, 3), X(2, 3) > 0)
ops.masked_select(X(2, 3), b([True, False, True]))
X(2, 3).masked_select(X(2, 3) > 5)
ops.nonzero(i([[0, 1], [2, 0]]))
ops.nonzero(i([[0, 1], [2, 0]]), as_tuple=True)
ops.nonzero(f([0, 0]))
ops.nonzero(f(2))
i([[0, 1], [2, 0]]).nonzero()
i([[0, 1], [2, 0]]).nonzero(as_tuple=True)
ops.argwhere(i([[0, 1], [2, 0]]))
ops.where(b([True, False]))
ops.scatter(X(2, 3), 1, i([[0], [1]]), f([[9], [8]]))
ops.scatter(X(2, 3), 0, i([[0, 1, 0]]), f([[9, 8, 7]]))
ops.scatter(X(2, 3), 1, i([[0], [1]]), 5.0)
ops.scatter(X(2, 3), 1, i([[0], [1]]), f([[9], [8]]), reduction='add')
X(2, 3).scatter(1, i([[0], [1]]), f([[9], [8]]))
X(2, 3).scatter(1, i([[0], [1]]), 5.0)
X(2, 3).scatter_add(1, i([[0], [1]]), f([[9], [8]]))
X(2, 3).scatter_add(i([[0, 1]]), f([9]))
X(2, 3).scatter_(1, i([[0], [1]]), 5.0)
ops.scatter_nd(i([[0], [2]]), f([1, 2]), (4,))
ops.scatter_nd(i([[0], [0]]), f([1, 2]), (3,))
ops.scatter_nd(i([[0, 1]]), f([5]), (2, 2))
ops.tensor_scatter_update(X(2, 3), i([[0, 1]]), f([9]))
ops.tensor_scatter_add(X(2, 3), i([[0, 1], [0, 1]]), f([9, 1]))
ops.tensor_scatter_sub(X(2, 3), i([[0, 1]]), f([9]))
ops.tensor_scatter_mul(X(2, 3), i([[0, 1]]), f([2]))
ops.tensor_scatter_div(X(2, 3), i([[0, 1]]), f([2]))
ops.tensor_scatter_max(X(2, 3), i([[0, 1]]), f([2]))
ops.tensor_scatter_min(X(2, 3), i([[0, 1]]), f([-9]))
ops.tensor_scatter_add(X(2, 3), i([[0]]), f([[1, 2, 3]]))
ops.tensor_scatter_add(X(2, 3), i([[5, 1]]), f([9]))
ops.tensor_scatter_elements(X(2, 3), i([[0], [1]]), f([[9], [8]]), 1)
ops.tensor_scatter_elements(X(2, 3), i([[0], [1]]), f([[9], [8]]), 1, 'add')
ops.scatter_update(Parameter(X(2, 3), name='p'), i([0]), f([[1, 2, 3]]))
ops.scatter_add(Parameter(X(2, 3), name='p'), i([0, 0]), f([[1, 2, 3], [1, 1, 1]]))
p = Parameter(X(2, 3), name='p'); ops.scatter_add(p, i([0, 0]), f([[1, 2, 3], [1, 1, 1]])); p
p = Parameter(X(2, 3), name='p'); ops.scatter_max(p, i([1]), f([[1, 2, 3]])); p
p = Parameter(X(2, 3), name='p'); ops.scatter_min(p, i([1]), f([[1, 2, 3]])); p
p = Parameter(X(2, 3), name='p'); ops.scatter_mul(p, i([1]), f([[1, 2, 3]])); p
p = Parameter(X(2, 3), name='p'); ops.scatter_div(p, i([1]), f([[1, 2, 4]])); p
p = Parameter(X(2, 3), name='p'); ops.scatter_nd_add(p, i([[0, 1]]), f([5])); p
p = Parameter(X(2, 3), name='p'); ops.scatter_nd_update(p, i([[0, 1]]), f([5])); p
p = Parameter(X(2, 3), name='p'); ops.scatter_nd_mul(p, i([[0, 1]]), f([5])); p
X(2, 3).index_add(0, i([1]), f([[1, 2, 3]]))
X(2, 3).index_add(1, i([1]), f([[1], [2]]), alpha=2)
ops.index_add(Parameter(X(2, 3), name='p'), i([1]), f([[1, 2, 3]]), 0)
ops.index_fill(X(2, 3), 1, i([0, 2]), 4.0)
X(2, 3).index_fill(0, i([1]), f(3))
X(2, 3).index_put((i([0]), i([1])), f([5]))
X(2, 3).index_put((i([0, 0]), i([1, 1])), f([5, 6]), True)
ops.inplace_update(X(2, 3), f([[1, 2, 3]]), 0)
ops.inplace_add(X(2, 3), f([[1, 2, 3]]), 0)
ops.inplace_sub(X(2, 3), f([[1, 2, 3]]), [1])
ops.unsorted_segment_sum(X(3, 2), i([0, 1, 0]), 2)
ops.unsorted_segment_max(X(3, 2), i([0, 1, 0]), 3)
ops.unsorted_segment_min(X(3, 2), i([0, 1, 0]), 2)
ops.unsorted_segment_prod(X(3, 2), i([0, 1, 0]), 2)
ops.unsorted_segment_sum(X(3), i([0, -1, 0]), 2)
ops.embedding(i([0, 1]), Parameter(X(3, 2), name='w'))
ops.embedding(i([[2]]), Parameter(X(3, 2), name='w'), padding_idx=0)
x = X(3); x[1] = nan; x
x = i([1, 2, 3]); x[0] = 2.7; x
x = i([1, 2, 3]); x[0] = f(2.7); x
x = b([True, True]); x[0] = 0; x
x = h([1, 2]); x[0] = 70000.0; x
x = X(2, 3); x[x > 0] = X(2, 3)[X(2, 3) > 0] * 2; x
x = X(2, 3); x[0] = X(2, 3, s=1)[1]; x
x = X(2, 3); x[:, 0] = X(2, s=1); x
x = X(2, 3); x[..., -1] = 0; x
x = X(2, 3); x[1] = [1, 2, 3]; x
x = X(2, 3); x[1] = (1, 2, 3); x
x = X(2, 3); x[1] = np.array([1, 2, 3]); x
x = X(2, 3); x[1] = np.float32(3); x
x = X(2, 3); x[i([0, 1]), i([1, 2])] = f([5, 6]); x
x = X(2, 3); x[[0, 0], [1, 1]] += 1; x
x = X(4); x[1:3] = 0; x
x = X(4); x[::2] = f([1, 2]); x
x = X(4); x[::-1] = f([1, 2, 3, 4]); x
x = X(4); x[1:3] = f([1, 2, 3]); x
x = f(1); x[...] = 5; x
x = f(1); x[()] = 5; x
""")

CASES = [*cases(), *OTHER]
