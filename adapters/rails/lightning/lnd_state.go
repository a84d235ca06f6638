package lightning

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"causeway/core/lightning"
)

const invoicePage = 1000

// invoices passes every invoice of the node to fn, oldest first.
func (c *lnd) invoices(ctx context.Context, fn func(lndInvoice) error) error {
	for after := int64(0); ; {
		var page struct {
			Invoices []lndInvoice `json:"invoices"`
		}
		if err := c.call(ctx, http.MethodGet, fmt.Sprintf("/v1/invoices?index_offset=%d&num_max_invoices=%d", after, invoicePage), nil,
			&page); err != nil {
			return err
		}
		before := after
		for _, i := range page.Invoices {
			after = max(after, int64(i.AddIndex))
			if err := fn(i); err != nil {
				return err
			}
		}
		if len(page.Invoices) < invoicePage || after == before {
			return nil
		}
	}
}

func (c *lnd) last(ctx context.Context) (p Position, err error) {
	if err := c.invoices(ctx, func(i lndInvoice) error {
		p.Settled = max(p.Settled, uint64(max(i.SettleIndex, 0)))
		return nil
	}); err != nil {
		return p, err
	}
	newest, err := c.listPayments(ctx, "reversed=true&max_payments=1")
	if len(newest) > 0 {
		p.Paid = newest[0].index
	}
	return p, err
}

// maxPayments is how many payments are listed at once.
const maxPayments = 100

func (c *lnd) payments(ctx context.Context, after uint64) ([]listed, error) {
	return c.listPayments(ctx, fmt.Sprintf("index_offset=%d&max_payments=%d", after, maxPayments))
}

func (c *lnd) listPayments(ctx context.Context, query string) ([]listed, error) {
	var page struct {
		Payments []struct {
			lndPayment
			Index    lndNumber `json:"payment_index"`
			Hash     string    `json:"payment_hash"`
			Value    lndNumber `json:"value_msat"`
			Creation lndNumber `json:"creation_time_ns"`
		} `json:"payments"`
	}
	if err := c.call(ctx, http.MethodGet, "/v1/payments?include_incomplete=true&"+query, nil, &page); err != nil {
		return nil, err
	}
	list := make([]listed, len(page.Payments))
	for i, p := range page.Payments {
		became, err := p.state()
		hash, errHash := hex.DecodeString(p.Hash)
		if err != nil || errHash != nil || len(hash) != len(Hash{}) || p.Index <= 0 {
			return nil, errors.New("the node describes a payment not as documented")
		}
		list[i] = listed{became, Departure{Hash(hash), int64(p.Value) + became.feeMilliSatoshis, time.Unix(0, int64(p.Creation)).UTC()},
			uint64(p.Index)}
	}
	return list, nil
}

// settledFirst returns the first settled invoices of a node.
func (c *lnd) settledFirst(ctx context.Context) (found []Settlement, err error) {
	err = c.invoices(ctx, func(i lndInvoice) error {
		if i.State != "SETTLED" {
			return nil
		}
		s, err := i.settlement()
		found = append(found, s)
		return err
	})
	slices.SortFunc(found, func(a, b Settlement) int { return int(int64(a.Index) - int64(b.Index)) })
	return found[:min(len(found), maxSettled)], err
}

// balanceReadings is how often the balance is read until it stays the same meanwhile.
const balanceReadings = 5

func (c *lnd) balance(ctx context.Context) (held int64, moving bool, err error) {
	before, err := c.channelBalance(ctx)
	if err != nil {
		return 0, false, err
	}
	for range balanceReadings {
		// The fee of a commitment is taken from what the one who has opened the channel holds, and changes without a payment.
		fees, err := c.commitmentFees(ctx)
		if err != nil {
			return 0, false, err
		}
		after, err := c.channelBalance(ctx)
		if err != nil {
			return 0, false, err
		}
		if after == before {
			return int64(after.Local.MilliSatoshis+after.Outgoing.MilliSatoshis) + fees,
				after.Incoming.MilliSatoshis != 0 || after.Outgoing.MilliSatoshis != 0, nil
		}
		before = after
	}
	return 0, false, errors.New("payments changed the balance while it was read; ask again")
}

type lndAmount struct {
	MilliSatoshis lndNumber `json:"msat"`
}

type lndBalance struct {
	Local lndAmount `json:"local_balance"`
	// Outgoing is what is on its way to the other ends of the channels, and Incoming what comes from them.
	Outgoing lndAmount `json:"unsettled_remote_balance"`
	Incoming lndAmount `json:"unsettled_local_balance"`
}

func (c *lnd) channelBalance(ctx context.Context) (b lndBalance, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/balance/channels", nil, &b)
	return b, err
}

func (c *lnd) commitmentFees(ctx context.Context) (total int64, err error) {
	var list struct {
		Channels []struct {
			Initiator bool      `json:"initiator"`
			Fee       lndNumber `json:"commit_fee"`
		} `json:"channels"`
	}
	err = c.call(ctx, http.MethodGet, "/v1/channels", nil, &list)
	for _, channel := range list.Channels {
		if channel.Initiator {
			total += int64(channel.Fee) * milli
		}
	}
	return total, err
}

// lndNetworks are the names that LND has for networks.
var lndNetworks = map[string]lightning.Network{"mainnet": lightning.Main, "testnet": lightning.Test, "signet": lightning.Signet,
	"regtest": lightning.Regtest, "simnet": lightning.Simnet}

func (c *lnd) about(ctx context.Context) (about, error) {
	var info struct {
		Version  string `json:"version"`
		Key      string `json:"identity_pubkey"`
		Channels int    `json:"num_active_channels"`
		Synced   bool   `json:"synced_to_chain"`
		Chains   []struct {
			Network string `json:"network"`
		} `json:"chains"`
	}
	err := c.call(ctx, http.MethodGet, "/v1/getinfo", nil, &info)
	a := about{version: info.Version, key: info.Key, channels: info.Channels, synced: info.Synced}
	if len(info.Chains) > 0 {
		a.network = lndNetworks[info.Chains[0].Network]
	}
	return a, err
}

// rights are calls that show what a macaroon allows. None of them does anything.
var rights = []struct {
	method, path string
	body         any
	permission   string
	needed       bool
}{
	{http.MethodGet, "/v1/balance/channels", nil, "offchain:read", true},
	{http.MethodPost, "/v2/router/send", map[string]any{}, "offchain:write", true},
	{http.MethodGet, "/v1/invoices?num_max_invoices=1&reversed=true", nil, "invoices:read", true},
	{http.MethodPost, "/v2/invoices/cancel", map[string]any{"payment_hash": make([]byte, 32)}, "invoices:write", true},
	{http.MethodGet, "/v1/balance/blockchain", nil, "onchain:read", false},
	{http.MethodGet, "/v1/macaroon/ids", nil, "macaroon:read", false},
}

func (c *lnd) checkRights(ctx context.Context) error {
	for _, right := range rights {
		err := c.call(ctx, right.method, right.path, right.body, nil)
		var said *answer
		if err != nil && !errors.As(err, &said) {
			return err
		}
		switch denied := said != nil && said.isDenied(); {
		case denied && right.needed:
			return fmt.Errorf("the macaroon lacks the permission %s", right.permission)
		case !denied && !right.needed:
			return fmt.Errorf("the macaroon has the permission %s, which is not needed: make one with those of the documentation only",
				right.permission)
		}
	}
	return nil
}

// isDenied reports whether the macaroon does not allow the call.
func (a *answer) isDenied() bool {
	return a.code == grpcPermissionDenied || a.code == grpcUnauthenticated || a.message == "permission denied"
}

const (
	grpcPermissionDenied = 7
	grpcUnauthenticated  = 16
)

// lndNumber is a number, which the node writes as a text.
type lndNumber int64

// UnmarshalJSON implements json.Unmarshaler.
func (n *lndNumber) UnmarshalJSON(text []byte) error {
	value, err := strconv.ParseInt(strings.Trim(string(text), `"`), 10, 64)
	if err != nil {
		return errors.New("is no whole number")
	}
	*n = lndNumber(value)
	return nil
}
