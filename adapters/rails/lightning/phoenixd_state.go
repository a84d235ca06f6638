package lightning

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// list passes every payment of a list that has ended at a time or later to fn: incoming ones newest first, others in no order. One can be
// passed twice if another ends meanwhile, and none is left out.
func (c *phoenixd) list(ctx context.Context, path string, from uint64, fn func(json.RawMessage) error) error {
	for offset := 0; ; offset += c.page {
		var page []json.RawMessage
		if err := c.call(ctx, http.MethodGet, path, url.Values{"from": {strconv.FormatUint(from, 10)}, "limit": {strconv.Itoa(c.page)},
			"offset": {strconv.Itoa(offset)}}, &page); err != nil {
			return err
		}
		for _, item := range page {
			if err := fn(item); err != nil {
				return err
			}
		}
		if len(page) < c.page {
			return nil
		}
	}
}

// phoenixdIncoming is money received as the node describes it.
type phoenixdIncoming struct {
	Hash        string `json:"paymentHash"`
	Reference   string `json:"externalId"`
	Description string `json:"description"`
	Paid        bool   `json:"isPaid"`
	Satoshis    int64  `json:"receivedSat"` // less the fee
	Fee         int64  `json:"fees"`        // thousandths: what the channel for it has cost
	Completed   int64  `json:"completedAt"`
}

// settlement returns what the payer has paid, in whole satoshis, and what the node has kept of it.
func (p phoenixdIncoming) settlement() (Settlement, error) {
	hash, err := hex.DecodeString(p.Hash)
	if err != nil || len(hash) != len(Hash{}) || p.Completed <= 0 || p.Satoshis < 0 || p.Fee < 0 {
		return Settlement{}, errors.New("the node describes a payment not as documented")
	}
	paid := (p.Satoshis*milli + p.Fee + milli - 1) / milli // the fee is exact, and what is left of it rounded down
	return Settlement{Index: uint64(p.Completed), Hash: Hash(hash), Memo: memoOf(cmp.Or(p.Reference, p.Description)),
		MilliSatoshis: paid * milli, FeeSatoshis: paid - p.Satoshis, At: time.UnixMilli(p.Completed).UTC()}, nil
}

func (c *phoenixd) settled(ctx context.Context, after uint64) (found []Settlement, err error) {
	seen := map[Hash]bool{}
	err = c.list(ctx, "/payments/incoming", after+1, func(item json.RawMessage) error {
		var p phoenixdIncoming
		if err := json.Unmarshal(item, &p); err != nil {
			return errors.New("the answer of the node is not as documented")
		}
		if !p.Paid {
			return nil
		}
		s, err := p.settlement()
		if err == nil && !seen[s.Hash] && s.Index > after {
			seen[s.Hash] = true
			found = append(found, s)
		}
		return err
	})
	slices.SortFunc(found, func(a, b Settlement) int { return cmp.Compare(a.Index, b.Index) })
	return found, err
}

// inChannelFee is the kind of a payment whose cost is the fee of the money that was received with it.
const inChannelFee = "auto_liquidity"

func (c *phoenixd) payments(ctx context.Context, after uint64) (found []listed, err error) {
	seen := map[Hash]bool{}
	err = c.list(ctx, "/payments/outgoing", after+1, func(item json.RawMessage) error {
		var p phoenixdOutgoing
		if err := json.Unmarshal(item, &p); err != nil {
			return errors.New("the answer of the node is not as documented")
		}
		if !p.Paid || p.Kind == inChannelFee {
			return nil
		}
		hash, err := hex.DecodeString(cmp.Or(p.Hash, p.TxID))
		if err != nil || len(hash) != len(Hash{}) {
			return errors.New("the node describes a payment not as documented")
		}
		ended := cmp.Or(p.Completed, p.Created)
		if index := uint64(max(ended, 0)); index > after && !seen[Hash(hash)] {
			seen[Hash(hash)] = true
			found = append(found, listed{p.state(), Departure{Hash(hash), p.Satoshis * milli, time.UnixMilli(ended).UTC()}, index})
		}
		return nil
	})
	slices.SortFunc(found, func(a, b listed) int { return cmp.Compare(a.index, b.index) })
	return found, err
}

func (c *phoenixd) last(ctx context.Context) (p Position, err error) {
	received, err := c.settled(ctx, 0)
	if err != nil {
		return p, err
	}
	sent, err := c.payments(ctx, 0)
	for _, s := range received {
		p.Settled = max(p.Settled, s.Index)
	}
	for _, s := range sent {
		p.Paid = max(p.Paid, s.index)
	}
	return p, err
}

// balance returns what can be sent, and the credit for fees, rounded up: the node says it in whole satoshis, rounded down. What is on its
// way out is not in it.
func (c *phoenixd) balance(ctx context.Context) (held int64, moving bool, err error) {
	var balance struct {
		Satoshis *int64 `json:"balanceSat"`
		Credit   int64  `json:"feeCreditSat"`
	}
	if err := c.call(ctx, http.MethodGet, "/getbalance", nil, &balance); err != nil {
		return 0, false, err
	}
	if balance.Satoshis == nil {
		return 0, false, errors.New("the answer of the node is not as documented")
	}
	return (*balance.Satoshis+balance.Credit)*milli + milli - 1, false, nil
}
