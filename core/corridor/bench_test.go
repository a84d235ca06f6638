package corridor_test

import (
	"testing"

	"causeway/core/corridor"
)

func BenchmarkFind(b *testing.B) {
	for b.Loop() {
		if _, err := corridor.Find("USD", "ZAR", "ZA"); err != nil {
			b.Fatal(err)
		}
	}
}
