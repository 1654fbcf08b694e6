"""Tables as they come: what each column is, the readers, and the encoder that decides what missing and unseen mean."""
