package lndtest

import (
	"encoding/hex"
	"net/http"
	"strings"
)

// channelID is that of the channel over which the node pays and is paid.
const channelID = "880000123456789"

// ChannelPoint returns the output that funds the channel of the node.
func (n *Node) ChannelPoint() string {
	return strings.Repeat(hex.EncodeToString(n.Key.PubKey().SerializeCompressed()[1:5]), 8) + ":1"
}

func (p *payment) parts() []any {
	if p.status != "SUCCEEDED" {
		return []any{}
	}
	part := func(status string, total int64, channel string) any {
		return map[string]any{"status": status, "route": map[string]any{"total_amt_msat": text(total),
			"hops": []any{map[string]any{"chan_id": channel}, map[string]any{"chan_id": "7"}}}}
	}
	return []any{part("FAILED", 1, "1"), part("SUCCEEDED", p.satoshis+p.fee, channelID)}
}

// lookUpInvoice answers with an invoice and the parts of its payment.
func (n *Node) lookUpInvoice(w http.ResponseWriter, r *http.Request) {
	hash, err := hex.DecodeString(r.PathValue("hash"))
	n.mu.Lock()
	defer n.mu.Unlock()
	if err != nil || len(hash) != 32 || n.invoice([32]byte(hash)) == nil {
		answer(w, http.StatusNotFound, 5, "there are no existing invoices")
		return
	}
	i := n.invoice([32]byte(hash))
	body := i.describe()
	body["htlcs"] = []any{}
	if i.state == "SETTLED" {
		body["htlcs"] = []any{map[string]any{"state": "SETTLED", "chan_id": channelID, "amt_msat": text(i.paid)}}
	}
	write(w, body)
}
