package wallet_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"causeway/core/wallet"
)

func TestBoundChallenge_ClientRecognisesItsKey(t *testing.T) {
	t.Parallel()
	// A client can check with the written key alone, in lower case, that a challenge is for it.
	random := [32]byte{1, 2, 3}
	point, err := newClient(t).key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	full, compressed := bothForms(point)
	for _, text := range []string{full, strings.ToUpper(full), compressed, strings.ToUpper(compressed)} {
		key, err := wallet.ParseClientKey(text)
		if err != nil || !bytes.Equal(key.Bytes(), point) {
			t.Fatalf("%s: %x, %v", text, key.Bytes(), err)
		}
		written := strings.ToLower(text)
		challenge := wallet.BoundChallenge(random, key)
		sum := sha256.Sum256([]byte(string(challenge[:32]) + written))
		if len(challenge) != 64 || !bytes.Equal(challenge[:32], random[:]) || !bytes.Equal(challenge[32:], sum[:]) {
			t.Errorf("challenge %x", challenge)
		}
	}
}

// bothForms returns the digits of a point, uncompressed and compressed.
func bothForms(point []byte) (full, compressed string) {
	return hex.EncodeToString(point), hex.EncodeToString(append([]byte{2 | point[64]&1}, point[1:33]...))
}
