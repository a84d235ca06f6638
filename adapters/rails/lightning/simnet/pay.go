package simnet

import (
	"encoding/base64"
	"net/http"
	"time"
)

// Pay pays an invoice, and waits until it is paid. What the node has just received can be spent a little later.
func (n *Node) Pay(invoice string) {
	n.t.Helper()
	for attempt := 0; ; attempt++ {
		switch problem := n.TryPay(invoice); {
		case problem == "":
			return
		case problem != "insufficient_balance" || attempt == 20:
			n.t.Fatal(problem)
		}
		time.Sleep(500 * time.Millisecond)
	}
}

// TryPay asks to pay an invoice, and returns why the node has not; nothing if it has.
func (n *Node) TryPay(invoice string) (problem string) {
	var answer struct {
		Error string `json:"payment_error"`
	}
	if err := n.Call(http.MethodPost, "/v1/channels/transactions", map[string]any{"payment_request": invoice}, &answer); err != nil {
		return err.Error()
	}
	return answer.Error
}

// State returns the state and the paid amount of an invoice.
func (n *Node) State(hash [32]byte) (state, satoshis string) {
	n.t.Helper()
	var i struct {
		State string `json:"state"`
		Paid  string `json:"amt_paid_sat"`
	}
	n.Must(http.MethodGet, "/v2/invoices/lookup?payment_hash="+base64.URLEncoding.EncodeToString(hash[:]), nil, &i)
	return i.State, i.Paid
}
