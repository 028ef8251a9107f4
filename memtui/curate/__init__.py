"""What a person can change: forget, take secrets out, make copies and put them back."""
