package lightning

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"causeway/core/uma"
	"causeway/ports"
)

var _ ports.LightningChannels = invoices{}

// knowsChannels is a node that says which channels it has used.
type knowsChannels interface {
	// paidOver and receivedOver return the channels of a payment, and of an invoice, by the payment hash.
	paidOver(ctx context.Context, hash Hash) ([]uma.ChannelUse, error)
	receivedOver(ctx context.Context, hash Hash) ([]uma.ChannelUse, error)
}

// PaidOver implements ports.LightningChannels.
func (i invoices) PaidOver(ctx context.Context, hash [32]byte) ([]uma.ChannelUse, error) {
	node, knows := i.rail.node.(knowsChannels)
	if !knows {
		return nil, nil
	}
	return node.paidOver(ctx, hash)
}

// ReceivedOver implements ports.LightningChannels.
func (i invoices) ReceivedOver(ctx context.Context, id uuid.UUID) ([]uma.ChannelUse, error) {
	node, knows := i.rail.node.(knowsChannels)
	kept, found, err := i.rail.Store.Invoice(ctx, i.platform, id)
	if !knows || err != nil || !found || kept.Connection != i.rail.Connection.Name {
		return nil, err
	}
	return node.receivedOver(ctx, kept.PaymentHash)
}

// lndPart is a part of a payment (HTLC): one that is received names its channel, one that is sent a route.
type lndPart struct {
	Status string    `json:"status"` // of one that is sent
	State  string    `json:"state"`  // of one that is received
	Chan   string    `json:"chan_id"`
	Amount lndNumber `json:"amt_msat"`
	Route  struct {
		Total lndNumber `json:"total_amt_msat"`
		Hops  []struct {
			Chan string `json:"chan_id"`
		} `json:"hops"`
	} `json:"route"`
}

func (c *lnd) paidOver(ctx context.Context, hash Hash) ([]uma.ChannelUse, error) {
	var payment struct {
		Parts []lndPart `json:"htlcs"`
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	path := "/v2/router/track/" + base64.URLEncoding.EncodeToString(hash[:]) + "?no_inflight_updates=true"
	if err := c.stream(ctx, http.MethodGet, path, nil, func(part json.RawMessage) (bool, error) {
		if json.Unmarshal(part, &payment) != nil {
			return false, errors.New("the answer of the node is not as documented")
		}
		return false, nil
	}); err != nil {
		return nil, err
	}
	used := map[string]int64{}
	for _, p := range payment.Parts {
		if p.Status == "SUCCEEDED" && len(p.Route.Hops) > 0 {
			used[p.Route.Hops[0].Chan] += int64(p.Route.Total)
		}
	}
	return c.outpoints(ctx, used)
}

func (c *lnd) receivedOver(ctx context.Context, hash Hash) ([]uma.ChannelUse, error) {
	var invoice struct {
		Parts []lndPart `json:"htlcs"`
	}
	if err := c.call(ctx, http.MethodGet, "/v1/invoice/"+hex.EncodeToString(hash[:]), nil, &invoice); err != nil {
		return nil, err
	}
	used := map[string]int64{}
	for _, p := range invoice.Parts {
		if p.State == "SETTLED" {
			used[p.Chan] += int64(p.Amount)
		}
	}
	return c.outpoints(ctx, used)
}

// outpoints returns the outputs that fund channels. A channel that was closed meanwhile is left out.
func (c *lnd) outpoints(ctx context.Context, used map[string]int64) ([]uma.ChannelUse, error) {
	if len(used) == 0 {
		return nil, nil
	}
	var list struct {
		Channels []struct {
			ID    string `json:"chan_id"`
			Point string `json:"channel_point"`
		} `json:"channels"`
	}
	if err := c.call(ctx, http.MethodGet, "/v1/channels", nil, &list); err != nil {
		return nil, fmt.Errorf("list the channels: %w", err)
	}
	var channels []uma.ChannelUse
	for _, channel := range list.Channels {
		if amount, is := used[channel.ID]; is {
			channels = append(channels, uma.ChannelUse{Outpoint: channel.Point, MilliSatoshis: amount})
		}
	}
	return channels, nil
}
