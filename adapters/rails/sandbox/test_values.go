package sandbox

import (
	"causeway/core/sandbox"
	"causeway/ports"
)

// TestValues returns the values that select outcomes on sandbox platforms.
func TestValues() []ports.TestValue {
	listed := sandbox.List()
	values := make([]ports.TestValue, len(listed))
	for i, l := range listed {
		values[i] = ports.TestValue(l)
	}
	return values
}
