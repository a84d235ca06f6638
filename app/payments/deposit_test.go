package payments_test

import (
	"cmp"
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/app/payments"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
)

func TestFund_CreditsAccount(t *testing.T) {
	t.Parallel()
	// A simulated deposit is credited at once, posted from the rail, and listed as a completed
	// transaction.
	env := newReceivingEnv(t)
	own := env.NewInternalAccount(ident.Customer{}, "USDC", 0)

	first, err := env.Fund(t.Context(), env.Platform.ID, env.dollars.ID, 100_00, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := env.Fund(t.Context(), env.Platform.ID, env.dollars.ID, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	platforms, err := env.Fund(t.Context(), env.Platform.ID, own.ID, 5_000_000, nil)
	if err != nil {
		t.Fatal(err)
	}

	if first.Balance != 100_00 || second.Balance != 100_01 || first.ID != env.dollars.ID || first.Reference != env.dollars.Reference {
		t.Errorf("the balances are %d and %d of %+v", first.Balance, second.Balance, first.Internal)
	}
	env.WantBalances(map[string]int64{
		"customers/" + env.dollars.ID.String() + " USD": -100_01, "rails/RTP USD": 100_01,
		"platform/" + own.ID.String() + " USDC": -5_000_000, first.Transaction.SourceAccount + " USD": 100_01,
		platforms.Transaction.SourceAccount + " USDC": 5_000_000,
	})
	read := env.Transaction(first.Transaction.ID)
	if read.State.Status != transaction.Completed || read.Type != transaction.Incoming || read.Customer != env.Customer.ID ||
		read.PlatformCustomerID != "ana" ||
		read.Destination.InternalAccount != env.dollars.ID || read.SettledAt.IsZero() || read.Reference != env.dollars.Reference {
		t.Errorf("%+v", read)
	}
	if err := read.Flow().CheckKinds(read.State, nil); err == nil {
		t.Error("CheckKinds accepts a deposit without postings")
	}
	env.wantIncomingEvents(t, first.Transaction.ID, "INCOMING_PAYMENT.COMPLETED")
	env.wantNotifiedBalances(t, env.dollars, 100_00, 100_01)
}

func TestFund_Refused(t *testing.T) {
	t.Parallel()
	// Nothing is posted for amounts out of range, or for accounts of another platform or not in use.
	env := newReceivingEnv(t)
	frozen, err := account.NewInternal(ident.NewInternalAccount(env.IDs.New, apptest.Noon), env.Platform.ID, env.Customer.ID,
		"EUR", apptest.Noon)
	if err != nil {
		t.Fatal(err)
	}
	frozen.Status = account.InternalFrozen
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.OpenInternalAccounts(ctx, []account.Internal{frozen})
	})
	bo := env.NewCustomer("bo", func(c *customer.Customer) { c.DeletedAt = apptest.Noon })
	orphan := env.NewInternalAccount(bo.ID, "USD", 0)
	elsewhere := env.NewInternalAccountOn(env.NewPlatform().ID, ident.Customer{}, "USD", 0)

	for what, test := range map[string]struct {
		to     ident.InternalAccount
		amount int64
		code   fault.Code
		fields []string
	}{
		"zero":               {env.dollars.ID, 0, fault.InvalidInput, []string{"amount"}},
		"negative":           {env.dollars.ID, -1, fault.InvalidInput, []string{"amount"}},
		"too much":           {env.dollars.ID, 100_000_000_001, fault.InvalidInput, []string{"amount"}},
		"unknown":            {ident.NewInternalAccount(env.IDs.New, apptest.Noon), 1, fault.InternalAccountNotFound, nil},
		"another platform's": {elsewhere.ID, 1, fault.InternalAccountNotFound, nil},
		"frozen":             {frozen.ID, 1, fault.InvalidInput, []string{"accountId"}},
		"deleted customer's": {orphan.ID, 1, fault.CustomerDeleted, nil},
	} {
		_, err := env.Fund(t.Context(), env.Platform.ID, test.to, test.amount, nil)
		apptest.WantFault(t, what, err, test.code, test.fields...)
	}
	env.WantBalances(nil)
}

func TestFund_ConcurrentDeposits(t *testing.T) {
	t.Parallel()
	// Each of many concurrent deposits returns a different balance, and the last balance is their sum.
	env := newReceivingEnv(t)
	const payers = 60
	balances := make([]int64, payers)
	var all sync.WaitGroup
	for i := range payers {
		all.Go(func() {
			funded, err := env.Fund(context.Background(), env.Platform.ID, env.dollars.ID, 3, nil)
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
			t.Errorf("unexpected balance %d", b)
		}
		seen[b] = true
	}
	env.WantBalances(map[string]int64{"customers/" + env.dollars.ID.String() + " USD": -3 * payers, "rails/RTP USD": 3 * payers})
}

func TestDeposit_IsIdempotent(t *testing.T) {
	t.Parallel()
	// A payment with the reference of an account is credited once, however often the partner reports
	// it. What the account cannot hold is unmatched.
	env := newReceivingEnv(t)
	receipt := func(partner string, amount money.Amount) transaction.Receipt {
		return transaction.Receipt{ID: ident.NewReceipt(env.IDs.New, apptest.Noon), PartnerID: partner, Platform: env.Platform.ID,
			Rail: "ACH", Reference: env.dollars.Reference, Amount: amount, At: apptest.Noon.Add(-time.Minute)}
	}
	paid := receipt("1", money.Amount{Minor: 20_00, Currency: "USD"})

	for range 2 {
		again := receipt("1", paid.Amount) // under another id, and with another time
		again.At = env.Clock.Now()
		if again.ID == paid.ID {
			t.Fatal("the second report has the id of the first")
		}
		first, err := env.Deposit(t.Context(), paid, env.dollars.ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		deposit, err := env.Deposit(t.Context(), again, env.dollars.ID, nil)
		if err != nil || deposit.ID != first.ID {
			t.Fatalf("reported again it is %+v, %v", deposit, err)
		}
		if deposit.State.Status != transaction.Completed || deposit.ID.UUID() != paid.ID.UUID() {
			t.Fatalf("%+v", deposit)
		}
	}
	for _, code := range []fault.Code{fault.InvalidCurrency, fault.Conflict} {
		_, err := env.Deposit(t.Context(), receipt("2", money.Amount{Minor: 5, Currency: "EUR"}), env.dollars.ID, nil)
		apptest.WantFault(t, "another currency", err, code)
	}

	env.WantBalances(map[string]int64{"customers/" + env.dollars.ID.String() + " USD": -20_00, "rails/ACH USD": 20_00,
		"rails/ACH EUR": 5, "funding/unmatched EUR": -5})
	read := env.Transaction(depositIDOf(paid))
	if read.Reference != env.dollars.Reference || read.SourceAccount != "rails/ACH" {
		t.Errorf("%+v", read)
	}
	env.wantIncomingEvents(t, read.ID, "INCOMING_PAYMENT.COMPLETED")
}

func TestDeposit_OwnerDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	// A deposit that has read its customer as active, and waits while the customer is deleted, is held as
	// unmatched funds; a simulated one is refused.
	env := newReceivingEnv(t)
	receipt := env.NewReceipt("ACH", env.dollars.Reference, money.Amount{Minor: 5_00, Currency: "USD"})
	for name, pay := range map[string]func() error{
		"received": func() error {
			_, err := env.Deposit(t.Context(), receipt, env.dollars.ID, nil)
			return err
		},
		"simulated": func() error {
			_, err := env.Fund(t.Context(), env.Platform.ID, env.dollars.ID, 7_00, nil)
			return err
		},
	} {
		if err := env.Exec(`UPDATE customers SET deleted_at = NULL`); err != nil {
			t.Fatal(err)
		}
		paid := make(chan error, 1)
		env.Do(func(ctx context.Context, tx *postgres.Unit) error {
			owner, err := tx.LockCustomer(ctx, env.Platform.ID, env.Customer.ID)
			if err != nil {
				return err
			}
			left, err := tx.LockCustomerFunds(ctx, env.Platform.ID, env.Customer.ID)
			if err != nil {
				return err
			}
			go func() { paid <- pay() }()
			env.AwaitLockWait()
			if owner, err = owner.Delete(left, env.Clock.Now()); err != nil {
				return err
			}
			return tx.UpdateCustomer(ctx, owner)
		})
		apptest.WantFault(t, name, <-paid, fault.CustomerDeleted)
	}

	env.WantBalances(map[string]int64{"rails/ACH USD": 5_00, "funding/unmatched USD": -5_00})
}

func TestDeposit_AccountFull(t *testing.T) {
	t.Parallel()
	// A payment beyond the maximum balance is unmatched, also if it is reported twice, and a deposit
	// that was only requested is refused.
	env := newReceivingEnv(t)
	bank := env.NewBankAccount("000123456")
	pay := func(partner string, minor int64) error {
		_, err := env.Deposit(t.Context(), transaction.Receipt{ID: ident.NewReceipt(env.IDs.New, apptest.Noon), PartnerID: partner,
			Platform: env.Platform.ID, Rail: "ACH", Reference: env.dollars.Reference, Amount: money.Amount{Minor: minor, Currency: "USD"},
			At: apptest.Noon}, env.dollars.ID, nil)
		return err
	}
	if err := pay("almost the maximum", account.MaxBalance-10); err != nil {
		t.Fatal(err)
	}

	apptest.WantFault(t, "a deposit", pay("too much", 11), fault.AmountOutOfRange)
	apptest.WantFault(t, "the same receipt again", pay("too much", 11), fault.Conflict)
	_, err := env.Fund(t.Context(), env.Platform.ID, env.dollars.ID, 11, nil)
	apptest.WantFault(t, "a simulated deposit", err, fault.AmountOutOfRange)
	_, err = env.TransferIn(t.Context(), transaction.TransferIn{Platform: env.Platform.ID, From: bank.ID, To: env.dollars.ID, Amount: 11}, nil)
	apptest.WantFault(t, "a transfer", err, fault.AmountOutOfRange)
	_, err = env.SimulateUMAPayment(t.Context(), env.Platform.ID, payments.UMAPayment{Sender: "$bo@elsewhere.test", Customer: env.Customer.ID,
		Currency: "USD", Amount: 10000}, nil)
	apptest.WantFault(t, "a payment from another provider", err, fault.AmountOutOfRange)
	if err := pay("the last", 10); err != nil {
		t.Error(err)
	}

	env.WantBalances(map[string]int64{"customers/" + env.dollars.ID.String() + " USD": -account.MaxBalance,
		"rails/ACH USD": account.MaxBalance + 11, "funding/unmatched USD": -11})
	// It is listed, so that it can be assigned.
	page, err := env.Store.Unmatched(t.Context(), env.Platform.ID, ports.UnmatchedFilter{Limit: 5})
	if err != nil || len(page.Items) != 1 || page.Items[0].Receipt.PartnerID != "too much" || page.Items[0].Receipt.Amount.Minor != 11 {
		t.Errorf("unmatched: %+v, %v", page.Items, err)
	}
}

func depositIDOf(r transaction.Receipt) (id ident.Transaction) {
	id.SetUUID(r.ID.UUID())
	return id
}

func TestDeposit_ManyAtOnce(t *testing.T) {
	t.Parallel()
	// Of many payments that are reported at once, some twice, each is credited once, and those beyond the maximum
	// balance are held as unmatched funds.
	env := newReceivingEnv(t)
	const payers, minor = 40, account.MaxBalance / 30
	refused := make([][2]error, payers)
	var all sync.WaitGroup
	for i := range payers {
		receipt := transaction.Receipt{ID: ident.NewReceipt(env.IDs.New, apptest.Noon), PartnerID: "P" + strconv.Itoa(i),
			Platform: env.Platform.ID,
			Rail:     "ACH", Reference: env.dollars.Reference, Amount: money.Amount{Minor: minor, Currency: "USD"}, At: apptest.Noon}
		again := receipt
		again.ID = ident.NewReceipt(env.IDs.New, apptest.Noon)
		for n, r := range []transaction.Receipt{receipt, again} {
			all.Go(func() { _, refused[i][n] = env.Deposit(context.Background(), r, env.dollars.ID, nil) })
		}
	}
	all.Wait()

	beyond := 0
	for _, errs := range refused {
		err := cmp.Or(errs[0], errs[1])
		if fault.Is(err, fault.AmountOutOfRange) || fault.Is(err, fault.Conflict) {
			beyond++
		} else if err != nil {
			t.Error(err)
		}
	}
	if beyond != 10 {
		t.Errorf("%d of %d payments were refused, want 10", beyond, payers)
	}
	env.WantBalances(map[string]int64{"customers/" + env.dollars.ID.String() + " USD": -30 * minor, "funding/unmatched USD": -10 * minor,
		"rails/ACH USD": 40 * minor})
}
