package api

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"causeway/core/account"
	"causeway/core/corridor"
)

func TestRenderInstructions_NameTheNetworkOfEveryWallet(t *testing.T) {
	t.Parallel()
	// Every instruction to pay to a wallet names a network that a quote can be asked for on; those of banks name none. What
	// is stored stays as it is.
	var networks []string
	for _, spec := range account.Catalogue() {
		info := map[string]any{"accountType": string(spec.Type), "reference": "4T9K2M7PXQ3A"}
		body, err := json.Marshal(renderInstructions([]account.Instruction{{Info: info}}, true))
		if err != nil {
			t.Fatal(err)
		}
		var read []struct {
			AccountOrWalletInfo struct{ CryptoNetwork string }
		}
		if err := json.Unmarshal(body, &read); err != nil {
			t.Fatal(err)
		}
		network := read[0].AccountOrWalletInfo.CryptoNetwork
		if rail := corridor.RailNamed(network); rail.IsChain() != spec.IsWallet() || spec.IsWallet() && !slices.Contains(spec.Rails(), rail) {
			t.Errorf("%s names the network %q", spec.Type, network)
		}
		if hasCode := strings.Contains(string(body), "referenceCode"); hasCode == spec.IsWallet() || len(info) != 2 {
			t.Errorf("%s: %s of %v", spec.Type, body, info)
		}
		networks = append(networks, network)
	}
	for _, named := range []string{"SPARK", "SOLANA", "LIGHTNING", "BITCOIN"} {
		if !slices.Contains(networks, named) {
			t.Errorf("no instruction names %s", named)
		}
	}
}
