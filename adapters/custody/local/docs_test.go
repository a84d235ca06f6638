package local

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestDocs_RestoreExampleIsRight(t *testing.T) {
	t.Parallel()
	// The page about wallets shows the words and the public key of one entropy, with which a program that
	// restores wallets can be checked.
	page, err := os.ReadFile("../../../docs/wallets.md")
	if err != nil {
		t.Fatal(err)
	}
	s := new(secrets)
	text := words(s, bytes.Repeat([]byte{0x7f}, entropyLength))
	private, err := privateKey(s, text, walletPath)
	if err != nil {
		t.Fatal(err)
	}

	for _, want := range []string{string(text), fmt.Sprintf("%x", publicKey(private))} {
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/wallets.md does not show %s", want)
		}
	}
}
