package account

// Instruction is one way of paying in: the account or wallet to pay to, as the rail
// names it.
type Instruction struct {
	Notes           string
	PlatformAccount bool
	// Info is the type-specific part: accountType, accountNumber, reference …
	Info map[string]any
}
