package customers

const Together = together
