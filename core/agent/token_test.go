package agent_test

import (
	"strings"
	"testing"

	"causeway/core/agent"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	// A token is recognised by its form, with the present prefix or the former one, and found by its hash, which no
	// other token has.
	token := agent.FormatToken([32]byte{1, 0xab})
	if want := "agt_01ab" + strings.Repeat("0", 60); token != want {
		t.Errorf("%s, want %s", token, want)
	}
	for text, want := range map[string]bool{token: true, "cwa_" + token[4:]: true, "": false, "agx_" + token[4:]: false,
		"agt_cwa_" + token[4:]: false, token[4:]: false, token[:67]: false, token + "0": false, strings.ToUpper(token): false,
		"agt_" + strings.Repeat("g", 64): false} {
		if agent.IsToken(text) != want {
			t.Errorf("IsToken(%q) is not %t", text, want)
		}
	}
	if hash := agent.HashToken(token); !hash.Equal(agent.HashToken(token)) || hash.Equal(agent.HashToken(agent.FormatToken([32]byte{2}))) ||
		hash.Equal(agent.TokenHash{}) {
		t.Error("hashes of tokens are not compared correctly")
	}
}
