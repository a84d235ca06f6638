package onboarding

const Together = together
