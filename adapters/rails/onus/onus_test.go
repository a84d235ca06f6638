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

// newRail is the rail in front of the sandbox's.
func newRail(t *testing.T, deliver onus.DeliverFunc) *onus.Rail {
	log := logrus.New()
	log.SetOutput(t.Output())
	return &onus.Rail{Rail: sandbox.New(fixedClock(noon), 1), Deliver: deliver, Log: logrus.NewEntry(log)}
}

func TestRailPort(t *testing.T) {
	t.Parallel()
	nobody := func(context.Context, ports.Payout) (ports.Outcome, bool, error) { return ports.Outcome{}, false, nil }
	portstest.Rail(t, newRail(t, nobody), account.External{Currency: "BTC", Type: account.Layer2Wallet, Fields: map[string]string{"address": "spark1good"}}, noon)
}

func TestRail_SendKeepsOrderAcrossInternalAndExternal(t *testing.T) {
	t.Parallel()
	// Payments to neighbours are answered in the house, those to others and to accounts
	// by the rail behind, each in its place; where nobody knows, the rail was not asked.
	in := ports.Outcome{Verdict: ports.Waiting, Accepted: true, RetryAt: noon}
	deliver := func(_ context.Context, p ports.Payout) (ports.Outcome, bool, error) {
		switch p.Transaction.Destination.UMA {
		case "$ana@uma.test":
			return in, true, nil
		case "$down@uma.test":
			return ports.Outcome{}, false, errors.New("the database is away")
		default:
			return ports.Outcome{}, false, nil
		}
	}
	to := func(address string) ports.Payout {
		return ports.Payout{Transaction: transaction.Transaction{Destination: transaction.Endpoint{UMA: address}}}
	}

	got := newRail(t, deliver).Send(t.Context(), []ports.Payout{to("$ana@uma.test"), to("$bo@other.test"), to("$down@uma.test"), {}, to("$ana@uma.test")})

	done := ports.Outcome{Verdict: ports.Done}
	if want := []ports.Outcome{in, done, {Verdict: ports.Unknown}, done, in}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
