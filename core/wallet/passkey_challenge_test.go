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
	written := hex.EncodeToString(point)
	for _, text := range []string{written, strings.ToUpper(written)} {
		key, err := wallet.ParseClientKey(text)
		if err != nil {
			t.Fatal(err)
		}
		challenge := wallet.BoundChallenge(random, key)
		sum := sha256.Sum256([]byte(string(challenge[:32]) + written))
		if len(challenge) != 64 || !bytes.Equal(challenge[:32], random[:]) || !bytes.Equal(challenge[32:], sum[:]) {
			t.Errorf("challenge %x", challenge)
		}
	}
}
