import torch


class Model(torch.nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.proj = torch.nn.Linear(features_in, features_out)
        self.register_buffer("mean", torch.zeros(features_out))

    def forward(self, x):
        return torch.nn.functional.gelu(self.proj(x) - self.mean)


reference = Model


def make_inputs(*, seed, rows, features_in, features_out):
    return torch.randn(rows, features_in, generator=torch.Generator().manual_seed(seed))


def make_state(*, seed, rows, features_in, features_out):
    torch.manual_seed(seed)
    model = Model(features_in, features_out)
    model.mean.copy_(torch.randn(features_out))
    return (features_in, features_out), model.state_dict()
