package account_test

import (
	"errors"
	"reflect"
	"regexp"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
)

func TestFundingReference(t *testing.T) {
	t.Parallel()
	// The code is derived from the id, is short enough for any memo, and differs between
	// accounts.
	if got := account.FundingReference(internalID); got != "FUND-000000000008" {
		t.Errorf("the reference of %s is %s", internalID, got)
	}
	form := regexp.MustCompile(`^FUND-[0-9A-HJKMNP-TV-Z]{12}$`)
	bytes := rapid.SliceOfN(rapid.Byte(), 16, 16)
	rapid.Check(t, func(t *rapid.T) {
		var a, b ident.InternalAccount
		a.SetUUID(uuidV7(bytes.Draw(t, "a")))
		b.SetUUID(uuidV7(bytes.Draw(t, "b")))
		one, other := account.FundingReference(a), account.FundingReference(b)
		if !form.MatchString(one) || one != account.FundingReference(a) {
			t.Fatalf("%s is %s", a, one)
		}
		x, y := a.UUID(), b.UUID()
		x[8], y[8] = x[8]&7, y[8]&7 // the bits a code is made of
		if same := string(x[8:]) == string(y[8:]); same != (one == other) {
			t.Fatalf("%s is %s, and %s is %s", a, one, b, other)
		}
	})
}

func uuidV7(b []byte) uuid.UUID {
	id := uuid.UUID(b)
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80
	return id
}

// usdInstructions returns instructions for dollars and none for other currencies.
func usdInstructions(owner, reference string, currency money.Currency) ([]account.Instruction, error) {
	if currency != "USD" {
		return nil, nil
	}
	return []account.Instruction{{Notes: owner, Info: map[string]any{"reference": reference}}}, nil
}

func newOpener(customer ident.Customer, funding account.InstructionsFunc) account.Opener {
	n := byte(0)
	return account.Opener{
		Platform: platformID, Customer: customer, Owner: "Ana", FundingInstructions: funding, Now: now,
		NewID: func(time.Time) uuid.UUID { n++; return uuid.UUID{6: 0x70, 8: 0x80, 15: n} },
	}
}

func TestOpener_SetsFundingInstructions(t *testing.T) {
	t.Parallel()
	// There is one account per currency, each with its funding instructions. An embedded
	// wallet and a currency without a rail have none.
	for name, test := range map[string]struct {
		customer ident.Customer
		own      bool
	}{
		"a customer's": {customerID, false}, "the platform's": {ident.Customer{}, true},
	} {
		opened, err := newOpener(test.customer, usdInstructions).Open([]money.Currency{"USD", "BRL", "USDB"})
		if err != nil || len(opened) != 3 {
			t.Fatalf("%s: %v, %v", name, opened, err)
		}
		want := []account.Instruction{{Notes: "Ana", PlatformAccount: test.own, Info: map[string]any{"reference": opened[0].Reference}}}
		if !reflect.DeepEqual(opened[0].Instructions, want) || opened[0].Reference != account.FundingReference(opened[0].ID) {
			t.Errorf("%s: %+v", name, opened[0])
		}
		for _, a := range opened[1:] {
			// Only those of a customer's wallet are settled: another account may get some later.
			if (a.Instructions != nil) != (a.Type == account.EmbeddedWallet) || len(a.Instructions) > 0 || a.Customer != test.customer {
				t.Errorf("%s: %+v", name, a)
			}
		}
	}
}

func TestOpener_WithoutRailLeavesInstructionsNil(t *testing.T) {
	t.Parallel()
	// Without a rail an account is opened with nil instructions, which differ from the empty
	// ones of an account that cannot be paid into.
	opened, err := newOpener(customerID, nil).Open([]money.Currency{"USD"})
	if err != nil || len(opened) != 1 || opened[0].Instructions != nil || opened[0].Reference == "" {
		t.Errorf("%+v, %v", opened, err)
	}
}

func TestOpener_EmbeddedWalletOpensWhileRailIsDown(t *testing.T) {
	t.Parallel()
	// An unavailable rail prevents opening accounts that need its instructions, and no
	// others.
	down := errors.New("down")
	broken := func(string, string, money.Currency) ([]account.Instruction, error) { return nil, down }

	if _, err := newOpener(customerID, broken).Open([]money.Currency{"USDB"}); err != nil {
		t.Errorf("a wallet: %v", err)
	}
	if _, err := newOpener(customerID, broken).Open([]money.Currency{"USD"}); !errors.Is(err, down) {
		t.Errorf("a bank account: %v", err)
	}
	if _, err := newOpener(customerID, usdInstructions).Open([]money.Currency{"XYZ"}); err == nil {
		t.Error("opened in a currency that does not exist")
	}
}

func TestOpener_OpenMissing(t *testing.T) {
	t.Parallel()
	// Accounts in new currencies are opened, accounts without instructions get them, and all
	// others, also in currencies no longer used, are unchanged.
	old, err := newOpener(customerID, nil).Open([]money.Currency{"USD", "BRL"})
	if err != nil {
		t.Fatal(err)
	}
	old[1].Instructions = []account.Instruction{}
	later := newOpener(customerID, usdInstructions)
	later.Now = now.Add(time.Hour)

	opened, instructed, err := later.OpenMissing([]money.Currency{"EUR", "USD"}, old)
	if still, none, err := newOpener(customerID, func(string, string, money.Currency) ([]account.Instruction, error) {
		return nil,
			nil
	}).OpenMissing([]money.Currency{"USD"}, old); err != nil || len(still)+len(none) > 0 {
		t.Errorf("while no connection receives it: %+v, %+v, %v", still, none, err)
	}

	if err != nil || len(opened) != 1 || opened[0].Currency != "EUR" {
		t.Errorf("opened %+v, %v", opened, err)
	}
	if len(instructed) != 1 || instructed[0].ID != old[0].ID || len(instructed[0].Instructions) != 1 ||
		!instructed[0].UpdatedAt.Equal(later.Now) {
		t.Errorf("instructed %+v", instructed)
	}
	if opened, instructed, err = newOpener(customerID, nil).OpenMissing([]money.Currency{"USD", "BRL"}, old); err != nil ||
		len(opened)+len(instructed) > 0 {
		t.Errorf("without a rail: %+v, %+v, %v", opened, instructed, err)
	}
}

func TestOpener_WalletBesideRefundAccount(t *testing.T) {
	t.Parallel()
	// The account for refunds in the stablecoin of wallets does not take the place of the wallet.
	refunds, err := account.NewRefundAccount(internalID, platformID, customerID, money.USDB, now)
	if err != nil || refunds.Type != account.InternalCrypto {
		t.Fatalf("%+v, %v", refunds, err)
	}
	opened, instructed, err := newOpener(customerID, nil).OpenMissing([]money.Currency{money.USDB}, []account.Internal{refunds})
	if err != nil || len(opened) != 1 || opened[0].Type != account.EmbeddedWallet || len(instructed) != 0 {
		t.Errorf("opened %+v, %+v, %v", opened, instructed, err)
	}
}
