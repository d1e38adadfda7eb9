order = ("channel", "token", "tensor")
times = 14.0
at_once = "token"
