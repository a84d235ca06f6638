package signin

// What the tests compare.
var (
	Parameters = parameters
	OtherHash  = otherHash
)
