package receiving_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"causeway/app/receiving"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ports"
)

func TestFund_CreditsAccount(t *testing.T) {
	t.Parallel()
	// A simulated deposit is in the account at once, booked from the rail, and stands
	// among the transactions as completed.
	h := newIncomingEnv(t)
	own := h.openAccount(t, h.newAccount(t, h.platform.ID, ident.Customer{}, "USDC"))

	first, err := h.Fund(t.Context(), h.principal(), h.dollars.ID, 100_00, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := h.Fund(t.Context(), h.principal(), h.dollars.ID, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	platforms, err := h.Fund(t.Context(), h.principal(), own.ID, 5_000_000, nil)
	if err != nil {
		t.Fatal(err)
	}

	if first.Balance != 100_00 || second.Balance != 100_01 || first.ID != h.dollars.ID || first.Reference != h.dollars.Reference {
		t.Errorf("the balances are %d and %d of %+v", first.Balance, second.Balance, first.Internal)
	}
	h.wantTrialBalance(t, map[string]int64{
		"customers/" + h.dollars.ID.String() + " USD": -100_01, "rails/RTP USD": 100_01,
		"platform/" + own.ID.String() + " USDC": -5_000_000, first.Transaction.SourceAccount + " USD": 100_01, platforms.Transaction.SourceAccount + " USDC": 5_000_000,
	})
	read := h.read(t, first.Transaction.ID)
	if read.State.Status != transaction.Completed || read.Type != transaction.Incoming || read.Customer != h.ana.ID || read.PlatformCustomerID != "ana" ||
		read.Destination.InternalAccount != h.dollars.ID || read.SettledAt.IsZero() || read.Reference != h.dollars.Reference {
		t.Errorf("%+v", read)
	}
	if err := read.Flow().CheckKinds(read.State, nil); err == nil {
		t.Error("a deposit without postings is explained")
	}
	h.wantEvents(t, first.Transaction.ID, "INCOMING_PAYMENT.COMPLETED")
	if got := h.notifiedBalances(h.dollars.ID); !slices.Equal(got, []int64{100_00, 100_01}) {
		t.Errorf("the balances told are %v", got)
	}
}

func TestFund_Refused(t *testing.T) {
	t.Parallel()
	// Nothing is booked for amounts out of range, for accounts that are not this
	// platform's or not in use, and never in production.
	h := newIncomingEnv(t)
	frozen := h.newAccount(t, h.platform.ID, h.ana.ID, "EUR")
	frozen.Status = account.InternalFrozen
	h.openAccount(t, frozen)
	bo := h.newCustomer("bo")
	bo.DeletedAt = noon
	h.do(t, func(ctx context.Context, tx ports.Tx) error { return tx.CreateCustomer(ctx, bo) })
	gone := h.openAccount(t, h.newAccount(t, h.platform.ID, bo.ID, "USD"))
	elsewhere := h.openAccount(t, h.newAccount(t, h.otherPlatform.ID, ident.Customer{}, "USD"))
	real := h.principal()
	real.Environment = platform.Production

	for what, test := range map[string]struct {
		who    platform.Principal
		to     ident.InternalAccount
		amount int64
		code   fault.Code
		fields []string
	}{
		"nothing":            {h.principal(), h.dollars.ID, 0, fault.InvalidInput, []string{"amount"}},
		"less":               {h.principal(), h.dollars.ID, -1, fault.InvalidInput, []string{"amount"}},
		"too much":           {h.principal(), h.dollars.ID, 100_000_000_001, fault.InvalidInput, []string{"amount"}},
		"production":         {real, h.dollars.ID, 1, fault.Forbidden, nil},
		"unknown":            {h.principal(), ident.NewInternalAccount(h.ids.New, noon), 1, fault.InternalAccountNotFound, nil},
		"another platform's": {h.principal(), elsewhere.ID, 1, fault.InternalAccountNotFound, nil},
		"frozen":             {h.principal(), frozen.ID, 1, fault.InvalidInput, []string{"accountId"}},
		"deleted customer's": {h.principal(), gone.ID, 1, fault.CustomerDeleted, nil},
	} {
		_, err := h.Fund(t.Context(), test.who, test.to, test.amount, nil)
		wantFault(t, what, err, test.code, test.fields...)
	}
	h.wantTrialBalance(t, nil)
}

func TestFund_ConcurrentDeposits(t *testing.T) {
	t.Parallel()
	// However many pay in at once, each is answered with its own balance, and together
	// they are the sum.
	h := newIncomingEnv(t)
	const payers = 60
	balances := make([]int64, payers)
	var all sync.WaitGroup
	for i := range payers {
		all.Go(func() {
			funded, err := h.Fund(context.Background(), h.principal(), h.dollars.ID, 3, nil)
			if err != nil {
				t.Error(err)
			}
			balances[i] = funded.Balance
		})
	}
	all.Wait()

	seen := map[int64]bool{}
	for _, b := range balances {
		if seen[b] || b%3 != 0 || b > 3*payers {
			t.Errorf("a balance of %d", b)
		}
		seen[b] = true
	}
	h.wantTrialBalance(t, map[string]int64{"customers/" + h.dollars.ID.String() + " USD": -3 * payers, "rails/RTP USD": 3 * payers})
}

func TestDeposit_IsIdempotent(t *testing.T) {
	t.Parallel()
	// A payment with an account's reference is in the account, once however often the
	// partner tells of it; what the account cannot take is kept as unmatched.
	h := newIncomingEnv(t)
	receipt := func(partner string, amount money.Amount) transaction.Receipt {
		return transaction.Receipt{ID: transaction.ReceiptID("rails/ACH", partner, noon), PartnerID: partner, Platform: h.platform.ID,
			PartnerAccount: "rails/ACH", Reference: h.dollars.Reference, Amount: amount, At: noon.Add(-time.Minute)}
	}
	paid := receipt("1", money.Amount{Minor: 20_00, Currency: "USD"})

	for range 2 {
		made, err := h.Deposit(t.Context(), paid, h.dollars.ID, nil)
		if err != nil || made.State.Status != transaction.Completed || made.ID.UUID() != paid.ID.UUID() {
			t.Fatalf("%+v, %v", made, err)
		}
	}
	for _, code := range []fault.Code{fault.InvalidCurrency, fault.Conflict} {
		_, err := h.Deposit(t.Context(), receipt("2", money.Amount{Minor: 5, Currency: "EUR"}), h.dollars.ID, nil)
		wantFault(t, "another currency", err, code)
	}

	h.wantTrialBalance(t, map[string]int64{"customers/" + h.dollars.ID.String() + " USD": -20_00, "rails/ACH USD": 20_00,
		"rails/ACH EUR": 5, "funding/unmatched EUR": -5})
	read := h.read(t, depositIDOf(paid))
	if read.Reference != h.dollars.Reference || read.SourceAccount != "rails/ACH" {
		t.Errorf("%+v", read)
	}
	h.wantEvents(t, read.ID, "INCOMING_PAYMENT.COMPLETED")
}

func TestDeposit_AccountFull(t *testing.T) {
	t.Parallel()
	// An account holds so much and no more: what comes beyond that is kept as unmatched,
	// also when it is told twice, and what is only asked for is refused.
	h := newIncomingEnv(t)
	bank := h.bank(t, h.ana.ID, "000123456")
	pay := func(partner string, minor int64) error {
		_, err := h.Deposit(t.Context(), transaction.Receipt{ID: transaction.ReceiptID("rails/ACH", partner, noon), PartnerID: partner,
			Platform: h.platform.ID, PartnerAccount: "rails/ACH", Reference: h.dollars.Reference, Amount: money.Amount{Minor: minor, Currency: "USD"}, At: noon}, h.dollars.ID, nil)
		return err
	}
	if err := pay("most of it", account.MaxBalance-10); err != nil {
		t.Fatal(err)
	}

	wantFault(t, "a deposit", pay("too much", 11), fault.AmountOutOfRange)
	wantFault(t, "the same once more", pay("too much", 11), fault.Conflict)
	_, err := h.Fund(t.Context(), h.principal(), h.dollars.ID, 11, nil)
	wantFault(t, "a simulated deposit", err, fault.AmountOutOfRange)
	_, err = h.TransferIn(t.Context(), h.principal(), receiving.TransferInRequest{From: bank.ID, To: h.dollars.ID, Amount: 11}, nil)
	wantFault(t, "a transfer", err, fault.AmountOutOfRange)
	_, err = h.Receive(t.Context(), h.principal(), receiving.UMAPayment{Sender: "$bo@elsewhere.test", Customer: h.ana.ID, Currency: "USD", Amount: 10000}, nil)
	wantFault(t, "a payment from elsewhere", err, fault.AmountOutOfRange)
	if err := pay("the last", 10); err != nil {
		t.Error(err)
	}

	h.wantTrialBalance(t, map[string]int64{"customers/" + h.dollars.ID.String() + " USD": -account.MaxBalance,
		"rails/ACH USD": account.MaxBalance + 11, "funding/unmatched USD": -11})
}

func depositIDOf(r transaction.Receipt) (id ident.Transaction) {
	ident.SetUUID(&id, r.ID.UUID())
	return id
}
