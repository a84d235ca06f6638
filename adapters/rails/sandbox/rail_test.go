package sandbox_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/sandbox"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
	"causeway/ports/railtest"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

type fixedClock time.Time

func (f fixedClock) Now() time.Time { return time.Time(f) }

// quoteID is the id of a quote; a payout without one is a transfer.
var quoteID = func() (id ident.Quote) {
	id.SetUUID(uuid.UUID{15: 1})
	return id
}()

func wallet(address string) account.External {
	return account.External{Currency: "BTC", Type: account.Layer2Wallet, Fields: map[string]string{"address": address}}
}

func TestRailPort(t *testing.T) {
	t.Parallel()
	portstest.Rail(t, func(*testing.T) railtest.Fixture { return &fixture{clock: portstest.NewFakeClock(noon)} })
}

func TestRail_DelaysScaleWithSpeed(t *testing.T) {
	t.Parallel()
	// At speed 60, six minutes take six seconds.
	for speed, wait := range map[int]time.Duration{1: 6 * time.Minute, 60: 6 * time.Second} {
		slow := ports.Payout{Account: wallet("spark1003"), Transaction: transaction.Transaction{Quote: quoteID, UpdatedAt: noon}}

		early := sandbox.New(fixedClock(noon.Add(wait-time.Millisecond)), speed).Send(t.Context(), []ports.Payout{slow})[0]
		ready := sandbox.New(fixedClock(noon.Add(wait)), speed).Send(t.Context(), []ports.Payout{slow})[0]

		if early.Verdict != ports.Waiting || !early.RetryAt.Equal(noon.Add(wait)) || ready.Verdict != ports.Done {
			t.Errorf("speed %d: %+v, then %+v", speed, early, ready)
		}
	}
}

func TestRail_DrivenByATest(t *testing.T) {
	t.Parallel()
	// Without delays a slow payout is done, and keeps its outcome otherwise. Returning, every payout comes back and every
	// collection is taken back, now.
	rail := sandbox.New(fixedClock(noon), 1)
	later := noon.Add(time.Microsecond) // what a change is dated that follows another one in the same microsecond
	for address, want := range map[string]ports.Verdict{"spark1003": ports.Done, "spark1004": ports.Refused, "spark1good": ports.Done} {
		p := ports.Payout{Account: wallet(address), Transaction: transaction.Transaction{Quote: quoteID, UpdatedAt: later, SettledAt: later}}
		if got := rail.WithoutDelays().Send(t.Context(), []ports.Payout{p})[0]; got.Verdict != want {
			t.Errorf("%s without delays: %+v", address, got)
		}
		if got := rail.Returning().Status(t.Context(), []ports.Payout{p})[0]; got.Verdict != ports.Returned {
			t.Errorf("%s returning: %+v", address, got)
		}
	}
	c := ports.Collection{Account: wallet("1"), Transaction: transaction.Transaction{SettledAt: later}}
	if got := rail.Returning().CollectionStatus(t.Context(), []ports.Collection{c})[0]; got.Verdict != ports.Returned ||
		!got.ReturnedAt.Equal(noon) || got.PartnerID == "" {
		t.Errorf("a collection: %+v", got)
	}
}

func TestRail_TransactionHashes(t *testing.T) {
	t.Parallel()
	// A payout on a chain has a hash in the form of the chain, the same however often it is asked for; a payout of a bank has none.
	rail := sandbox.New(fixedClock(noon), 1)
	for on, form := range map[corridor.Rail]string{corridor.Base: `^0x[0-9a-f]{64}$`, corridor.Altchain: `^[1-9A-HJ-NP-Za-km-z]{80,90}$`,
		corridor.Bitcoin: `^[0-9a-f]{64}$`, corridor.Layer2: `^[0-9a-f]{64}$`, corridor.Lightning: `^$`, corridor.SEPA: `^$`} {
		p := ports.Payout{Account: wallet("spark1good"), Transaction: transaction.Transaction{Quote: quoteID, DestinationRail: on}}
		got, again := rail.Send(t.Context(), []ports.Payout{p})[0], rail.Send(t.Context(), []ports.Payout{p})[0]
		if !regexp.MustCompile(form).MatchString(got.TransactionHash) || again.TransactionHash != got.TransactionHash {
			t.Errorf("%s: %q, then %q", on, got.TransactionHash, again.TransactionHash)
		}
	}
}

func TestRail_ReviewIsSaidWhileItLasts(t *testing.T) {
	t.Parallel()
	// An account that ends in 009 has its payment reviewed first.
	p := ports.Payout{Account: wallet("spark1009"), Transaction: transaction.Transaction{Quote: quoteID, UpdatedAt: noon}}
	early := sandbox.New(fixedClock(noon), 1).Send(t.Context(), []ports.Payout{p})[0]
	ready := sandbox.New(fixedClock(noon.Add(6*time.Minute)), 1).Send(t.Context(), []ports.Payout{p})[0]
	if early.Verdict != ports.Waiting || !early.InReview || ready.Verdict != ports.Done || ready.InReview {
		t.Errorf("%+v, then %+v", early, ready)
	}
}

func TestRail_InstructionsForEveryChain(t *testing.T) {
	t.Parallel()
	// Without a network there is an address for every chain, with one only the address on it.
	rail := sandbox.New(fixedClock(noon), 1)
	all, err := rail.Instructions(ident.Platform{}, "REF", "USDC", "")
	if err != nil || len(all) != 4 {
		t.Fatalf("%d instructions, %v", len(all), err)
	}
	addresses := map[any]bool{}
	for _, instruction := range all {
		addresses[instruction.Info["address"]] = true
		if instruction.Info["assetType"] != "USDC" {
			t.Errorf("%v", instruction.Info)
		}
	}
	one, err := rail.Instructions(ident.Platform{}, "REF", "USDC", "BASE")
	if err != nil || len(one) != 1 || one[0].Info["accountType"] != "BASE_WALLET" || len(addresses) != 4 {
		t.Errorf("%v, %v, %d addresses", one, err, len(addresses))
	}
}

func TestRail_AddressesAreValid(t *testing.T) {
	t.Parallel()
	// The address of every chain of every currency can be registered as an account.
	rail := sandbox.New(fixedClock(noon), 1)
	for _, currency := range []money.Currency{"BTC", "USDB", "USDC", "USDT"} {
		all, err := rail.Funding(ident.Platform{}, "Ana", "FUND-A", currency)
		if err != nil || len(all) == 0 {
			t.Fatalf("%s: %v, %v", currency, all, err)
		}
		for _, instruction := range all {
			request := account.CreateRequest{Currency: string(currency), Info: instruction.Info}
			request.ID.SetUUID(uuid.UUID{15: 1})
			request.Platform.SetUUID(uuid.UUID{15: 2})
			if _, err := account.Validate(request); err != nil {
				t.Errorf("%s at %v: %v", currency, instruction.Info, err)
			}
		}
	}
	chains := map[money.Currency]int{"BTC": 2, "USDT": 5} // BTC is on Lightning too, which has no address
	for currency, want := range chains {
		if all, err := rail.Instructions(ident.Platform{}, "REF", currency, ""); err != nil || len(all) != want {
			t.Errorf("%s: %d instructions, %v; want %d", currency, len(all), err, want)
		}
	}
}

func TestRail_SendOutcomeByAccountNumber(t *testing.T) {
	t.Parallel()
	// The digits of an account select different outcomes for transfers and for quotes.
	refused := func(accepted bool, reason transaction.FailureReason) ports.Outcome {
		return ports.Outcome{Verdict: ports.Refused, Accepted: accepted, Reason: reason}
	}
	done := ports.Outcome{Verdict: ports.Done}
	for end, want := range map[string]struct{ transfer, quote ports.Outcome }{
		"001": {done, done},
		"002": {refused(false, transaction.CounterpartyPostFailed), refused(true, transaction.QuoteExecutionFailed)},
		"003": {refused(false, transaction.CounterpartyPostFailed), ports.Outcome{Verdict: ports.Waiting, Accepted: true,
			RetryAt: noon.Add(6 * time.Minute)}},
		"004": {refused(true, transaction.CounterpartyPostFailed), refused(true, transaction.CounterpartyPostFailed)},
		"005": {ports.Outcome{Verdict: ports.Waiting, RetryAt: noon.Add(30 * time.Second)},
			ports.Outcome{Verdict: ports.Done, RetryAt: noon.Add(5 * time.Second)}},
		"006": {done, ports.Outcome{Verdict: ports.CancelledByUser, Accepted: true}},
		"007": {done, refused(true, transaction.CounterpartyPostFailed)},
		"201": {refused(true, transaction.AccountInvalid), refused(true, transaction.AccountInvalid)},
		"202": {refused(true, transaction.AccountCannotReceive), refused(true, transaction.AccountCannotReceive)},
		"203": {refused(true, transaction.ComplianceRejected), refused(true, transaction.ComplianceRejected)},
		"204": {refused(true, transaction.LimitExceeded), refused(true, transaction.LimitExceeded)},
		"205": {done, refused(true, transaction.QuoteRateUnavailable)},
	} {
		rail := sandbox.New(fixedClock(noon), 1)
		payouts := []ports.Payout{
			{Account: wallet("spark1" + end), Transaction: transaction.Transaction{UpdatedAt: noon}},
			{Account: wallet("spark1" + end), Transaction: transaction.Transaction{Quote: quoteID, UpdatedAt: noon}},
		}

		got := rail.Send(t.Context(), payouts)

		if got[0] != want.transfer || got[1] != want.quote {
			t.Errorf("%s: %+v; want %+v", end, got, want)
		}
	}
}

func TestRail_FundingAddressesAreValid(t *testing.T) {
	t.Parallel()
	// The funding addresses pass the validation of wallets.
	rail := sandbox.New(fixedClock(noon), 1)
	generator := func(time.Time) uuid.UUID { return uuid.UUID{6: 0x70, 8: 0x80, 15: 1} }
	for _, currency := range []money.Currency{"BTC", "USDC", "USDT", "USDB"} {
		instructions, err := rail.Funding(ident.Platform{}, "Ana Silva", "FUND-"+string(currency), currency)
		if err != nil || len(instructions) == 0 {
			t.Fatalf("%s: %v, %v", currency, instructions, err)
		}
		for _, instruction := range instructions {
			if _, err := account.Validate(account.CreateRequest{
				ID: ident.NewExternalAccount(generator, noon), Platform: ident.NewPlatform(generator, noon), Currency: string(currency),
				Info: instruction.Info, Now: noon,
			}); err != nil {
				t.Errorf("%s: %v: %v", currency, instruction.Info, err)
			}
		}
	}
}
