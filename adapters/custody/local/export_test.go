package local

import "bytes"

// Derived returns the private values that a wallet's key is derived from, and the key, for tests.
func Derived(text string) map[string][]byte {
	s := new(secrets)
	derived := map[string][]byte{"seed": seed(s, []byte(text))}
	for depth, name := range []string{"master key", "purpose key", "account key", "private key"} {
		node, err := deriveKey(s, derived["seed"], walletPath[:depth]...)
		if err != nil {
			panic(err)
		}
		derived[name], derived["chain code of the "+name] = bytes.Clone(node[:keyLength]), bytes.Clone(node[keyLength:])
	}
	return derived
}
