"""What a model is asked for: decisions, reasons, the next question, honest figures. They receive a model, they never build one."""
