"""Random functions and initialisers: exact types and shapes, statistics within a tolerance. Fan-in and fan-out of many shapes."""
from . import lines

LIKE = lines("""
ops.rand(2, 3)
ops.rand((2, 3))
ops.rand(3, dtype=ms.float16)
ops.randn(2, 3)
ops.randn(3, dtype=ms.float16)
ops.randint(0, 5, (2, 3))
ops.randint(0, 5, (2,), dtype=ms.int32)
ops.rand_like(X(2, 3))
ops.randn_like(X(2, 3))
ops.randint_like(X(2, 3), 0, 5)
ops.randint_like(i([1, 2]), 0, 5)
ops.randperm(5)
ops.randperm(5, dtype=ms.int32)
ops.normal((2, 3), f(0), f(1))
ops.normal((2,), 0.0, 1.0)
ops.uniform((2, 3), f(0), f(1))
ops.uniform((2, 3), i(0), i(5), dtype=ms.int32)
ops.standard_normal((2, 3))
ops.standard_laplace((2, 3))
ops.laplace((2, 3), f(0), f(1))
ops.gamma((2, 3), f(1), f(1))
ops.multinomial(f([0.5, 0.5]), 3)
ops.multinomial(f([[0.5, 0.5]]), 2, False)
ops.bernoulli(f([0.5, 0.5]))
ops.bernoulli(f([0.5, 0.5]), 0.3)
ops.shuffle(X(4))
ops.choice_with_mask(b([True, False, True]))
ops.random_categorical(X(2, 3), 4)
ops.random_poisson((2,), f([1.0]))
ops.log_uniform_candidate_sampler(l([[1, 2]]), 2, 3, True, 5)
ops.dropout(X(2, 3))
ops.dropout2d(X(1, 2, 3, 3))
ops.dropout1d(X(1, 2, 3))
ops.dropout3d(X(1, 2, 2, 2, 2))
ops.rrelu(X(2, 3))
mnp.rand(2, 3)
mnp.randn(2, 3)
mnp.randint(0, 5, (2, 3))
P.StandardNormal()((2, 3))
P.UniformReal()((2, 3))
P.UniformInt()((2, 3), i(0), i(5))
P.RandomShuffle()(X(4))
P.Dropout(0.5)(X(2, 3))
P.Multinomial()(f([0.5, 0.5]), 3)
P.RandpermV2()(5)
P.Bernoulli()(f([0.5, 0.5]))
P.StandardLaplace()((2, 3))
P.RandomCategorical()(X(2, 3), 4)
P.RandomChoiceWithMask()(b([[True, False], [True, True]]))
P.TruncatedNormal()((2, 3))
""")
STATS = lines("""
stats(ops.rand(20000))
stats(ops.randn(20000), 0.2)
stats(ops.randint(0, 10, (20000,)))
stats(ops.normal((20000,), f(1), f(2)), 0.2)
stats(ops.uniform((20000,), f(-1), f(3)))
stats(ops.standard_normal((20000,)), 0.2)
stats(ops.bernoulli(ops.full((20000,), 0.3, dtype=ms.float32)))
stats(ops.dropout(ops.ones((20000,)), 0.2))
stats(ops.dropout(ops.ones((20000,)), p=0.7))
stats(P.Dropout(0.8)(ops.ones((20000,)))[0])
stats(nn.Dropout(p=0.3).set_train()(ops.ones((20000,))))
stats(nn.Dropout(0.9).set_train()(ops.ones((20000,))))
nn.Dropout(p=0.3)(X(2, 3))
stats(ops.dropout2d(ops.ones((200, 100, 2, 2)), 0.3))
stats(ops.randperm(2000))
stats(ops.laplace((20000,), f(0), f(1)), 0.5)
stats(mnp.rand(20000))
stats(mnp.randn(20000), 0.2)
stats(mnp.randint(3, 9, (20000,)))
""")
INITIALISERS = ("init.Normal()", "init.Normal(0.5, 2.0)", "init.TruncatedNormal()", "init.TruncatedNormal(0.5)", "init.Uniform()", "init.Uniform(2.0)", "init.XavierUniform()",
                "init.XavierUniform(2.0)", "init.XavierNormal()", "init.HeUniform()", "init.HeNormal()", "init.HeUniform(5 ** 0.5)", "init.HeNormal(0, 'fan_out', 'relu')",
                "init.HeUniform(1, 'fan_out', 'leaky_relu')", "init.VarianceScaling()", "init.VarianceScaling(2.0, 'fan_avg', 'uniform')",
                "init.VarianceScaling(1.0, 'fan_out', 'untruncated_normal')", "init.Orthogonal()", "init.Sparse(0.1)", "'normal'", "'uniform'", "'xavier_uniform'", "'he_uniform'", "'he_normal'",
                "'truncatednormal'", "'TruncatedNormal'", "'HeUniform'", "'truncated_normal'", "'xavieruniform'")
EXACT = ("'zeros'", "'ones'", "'zero'", "'one'", "init.Zero()", "init.One()", "init.Constant(2.5)", "init.Identity()", "init.Dirac()", "init.Dirac(2)", "1.5", "3", "'nope'", "True",
         "f([1, 2])", "None")


def cases():
    for call in LIKE:
        yield f"like({call})"
    yield from STATS
    for text in INITIALISERS:
        for shape in ("(100, 150)", "(40, 20, 3, 3)", "(80, 100, 3)"):
            loose = 0.4 if "ormal" in text.lower() or "Variance" in text or "Orthogonal" in text or "Sparse" in text else 0.1
            yield f"stats(initializer({text}, {shape}).init_data(), {loose})"
        yield f"like(initializer({text}, (3,)).init_data())"
        yield f"like(initializer({text}, (2, 3), ms.float16).init_data())"
    for text in EXACT:
        for shape in ("(2, 2)", "(2, 2, 3)", "(2,)", "()", "2"):
            yield f"initializer({text}, {shape}).init_data()"
        yield f"initializer({text}, (2, 2), ms.int32).init_data()"
    for layer in ("nn.Dense(300, 200)", "nn.Conv1d(30, 40, 5)", "nn.Conv2d(30, 40, 3, has_bias=True)", "nn.Conv3d(8, 10, 3, has_bias=True)", "nn.Conv2dTranspose(30, 40, 3, has_bias=True)",
                  "nn.Conv1dTranspose(30, 40, 3, has_bias=True)", "nn.Conv3dTranspose(8, 10, 3, has_bias=True)", "nn.Embedding(300, 40)", "nn.LSTM(50, 60)", "nn.GRU(50, 60)",
                  "nn.RNN(50, 60)", "nn.LSTMCell(50, 60)", "nn.BatchNorm2d(50)", "nn.LayerNorm((50,))", "nn.GroupNorm(5, 50)", "nn.PReLU(50)", "nn.BiDense(30, 20, 10)",
                  "nn.MultiheadAttention(40, 4)", "nn.InstanceNorm2d(50)", "nn.Dense(300, 200, activation='relu')", "nn.Conv2d(30, 40, 3, group=2, has_bias=True)",
                  "nn.EmbeddingLookup(300, 40)", "nn.TransformerEncoderLayer(40, 4)", "nn.Dense(300, 200, weight_init='normal')"):
        yield f"[(p.name, list(p.shape), p.dtype, p.requires_grad) for p in {layer}.get_parameters()]"
        yield f"[stats(p, 0.3) for p in {layer}.get_parameters() if p.size >= 150]"


CASES = list(cases())
