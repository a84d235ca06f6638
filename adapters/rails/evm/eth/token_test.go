package eth_test

import (
	"bytes"
	"testing"

	"causeway/adapters/rails/evm/eth"
)

func FuzzUint(f *testing.F) {
	f.Add(make([]byte, 32))
	f.Add(bytes.Repeat([]byte{0xff}, 32))
	f.Fuzz(func(t *testing.T, data []byte) {
		// A word is the number that it stands for; anything else is none.
		n, err := eth.Uint(data)
		if (err == nil) != (len(data) == 32) {
			t.Fatalf("%x: %v", data, err)
		}
		if err == nil && !bytes.Equal(n.FillBytes(make([]byte, 32)), data) {
			t.Errorf("%x is %s", data, n)
		}
	})
}
