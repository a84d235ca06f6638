package onus_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/adapters/rails/onus"
	"causeway/adapters/rails/sandbox"
	"causeway/core/account"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

type fixedClock time.Time

func (f fixedClock) Now() time.Time { return time.Time(f) }

// newRail returns an on-us rail that wraps the sandbox rail.
func newRail(t *testing.T, deliver onus.DeliverFunc) *onus.Rail {
	log := logrus.New()
	log.SetOutput(t.Output())
	return &onus.Rail{Rail: sandbox.New(fixedClock(noon), 1), Deliver: deliver, Log: logrus.NewEntry(log)}
}

func TestRailPort(t *testing.T) {
	t.Parallel()
	noCustomer := func(context.Context, ports.Payout) (ports.Outcome, bool, error) { return ports.Outcome{}, false, nil }
	portstest.Rail(t, newRail(t, noCustomer), account.External{Currency: "BTC", Type: account.Layer2Wallet, Fields: map[string]string{"address": "spark1good"}}, noon)
}

func TestRail_SendKeepsOrderAcrossInternalAndExternal(t *testing.T) {
	t.Parallel()
	// Internal payments are delivered by Deliver and the others by the wrapped rail, in order.
	// After an error of Deliver the payment is not sent over the rail.
	internal := ports.Outcome{Verdict: ports.Waiting, Accepted: true, RetryAt: noon}
	deliver := func(_ context.Context, p ports.Payout) (ports.Outcome, bool, error) {
		switch p.Transaction.Destination.UMA {
		case "$ana@uma.test":
			return internal, true, nil
		case "$down@uma.test":
			return ports.Outcome{}, false, errors.New("no connection to the database")
		default:
			return ports.Outcome{}, false, nil
		}
	}
	to := func(address string) ports.Payout {
		return ports.Payout{Transaction: transaction.Transaction{Destination: transaction.Endpoint{UMA: address}}}
	}

	got := newRail(t, deliver).Send(t.Context(), []ports.Payout{to("$ana@uma.test"), to("$bo@other.test"), to("$down@uma.test"), {}, to("$ana@uma.test")})

	done := ports.Outcome{Verdict: ports.Done}
	if want := []ports.Outcome{internal, done, {Verdict: ports.Unknown}, done, internal}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
