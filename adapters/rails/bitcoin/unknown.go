package bitcoin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"causeway/adapters/rails/bitcoin/btc"
	"causeway/adapters/rails/feed"
)

// unknownPayments adds an event for each payment of a list that has left the wallet with enough confirmations, and by no transaction
// that is stored: another program has its keys, or the database has lost commits.
func (r *Rail) unknownPayments(ctx context.Context, list []listed, events []feed.Event) ([]feed.Event, error) {
	var left []listed
	var txids []string
	for _, entry := range list {
		if entry.Category == "send" && entry.Confirmations >= r.settings.confirmations {
			left, txids = append(left, entry), append(txids, entry.TxID)
		}
	}
	if len(left) == 0 {
		return events, nil
	}
	stored, err := r.Store.StoredTransactions(ctx, r.Connection.Name, txids)
	if err != nil {
		return nil, err
	}
	for _, entry := range left {
		if slices.Contains(stored, entry.TxID) {
			continue
		}
		satoshis, err := btc.ParseAmount(strings.TrimPrefix(string(entry.Amount), "-"))
		if err != nil {
			return nil, fmt.Errorf("listsinceblock: output %s:%d: %q is not an amount", entry.TxID, entry.Vout, entry.Amount)
		}
		events = append(events, feed.Event{Kind: feed.Unknown, PartnerID: outputName(Output{TxID: entry.TxID, Vout: entry.Vout}),
			Satoshis: satoshis, Text: entry.Address, At: time.Unix(entry.BlockTime, 0).UTC()})
	}
	return events, nil
}
