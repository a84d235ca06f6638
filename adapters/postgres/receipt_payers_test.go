package postgres_test

import (
	"context"
	"encoding/binary"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/party"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ports"
)

// savePayer stores a receipt that was paid from an account of Ana Secreta.
func savePayer(t *testing.T, db *postgres.DB, on platform.Platform, id string, of ident.Customer, at time.Time) ports.ReceiptPayer {
	t.Helper()
	r := newReceipt(on, "SEPA", id, noon)
	received := uuid.New() // the generator would never go back in time
	binary.BigEndian.PutUint64(received[:], uint64(at.UnixMilli())<<16|7<<12)
	r.ID.SetUUID(received)
	payer := ports.ReceiptPayer{Platform: on.ID, Receipt: r.ID, Customer: of, Account: account.External{
		Platform: on.ID, Type: "EUR_ACCOUNT", Currency: "EUR", Fields: map[string]string{"iban": "DE89370400440532013000"},
		Rails: []corridor.Rail{"SEPA"},
		Beneficiary: &account.Beneficiary{Type: account.Individual, FullName: "Ana Secreta", Address: &party.Address{Line1: "Calle Secreta 1",
			City: "Lima", Country: "PE"}},
	}}
	err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		if _, err := tx.SaveReceipts(ctx, []transaction.Receipt{r}); err != nil {
			return err
		}
		return tx.SaveReceiptPayers(ctx, []ports.ReceiptPayer{payer})
	})
	if err != nil {
		t.Fatal(err)
	}
	return payer
}

func TestReceiptPayers_AreEncrypted(t *testing.T) {
	t.Parallel()
	// The account of a payer is read as it was stored, by its platform and receipt. In the database it is encrypted.
	c := newEnv(t)
	db := openEncrypting(t, c)
	want := savePayer(t, db, c.platform, "P1", ident.Customer{}, noon)

	got, err := db.ReceiptPayers(t.Context(), c.platform.ID, []ident.Receipt{want.Receipt, ident.NewReceipt(generator.New, noon)})

	if err != nil || len(got) != 1 || !reflect.DeepEqual(got[want.Receipt], want.Account) {
		t.Errorf("%+v, %v; want %+v", got, err, want.Account)
	}
	if others, err := db.ReceiptPayers(t.Context(), ident.NewPlatform(generator.New, noon), []ident.Receipt{want.Receipt}); err != nil ||
		len(others) != 0 {
		t.Errorf("another platform reads %v, %v", others, err)
	}
	var stored string
	if err := connect(t, c.url).QueryRow(t.Context(), `SELECT r::text FROM receipt_payers r`).Scan(&stored); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"Secreta", "DE89", "EUR_ACCOUNT"} {
		if strings.Contains(stored, secret) {
			t.Errorf("%s is stored in %s", secret, stored)
		}
	}
}

func TestReceiptPayers_ErasedWithTheCustomer(t *testing.T) {
	t.Parallel()
	// With a customer, the payers of its money are erased, also of money that was assigned to it. A payer whose money is unmatched, or whose
	// refund failed and was not assigned, or is being sent again, or has failed again, is kept without the customer, because it can still be
	// sent back, and those of others are kept.
	c := newRetentionEnv(t)
	ana, ben := newCustomer(c.platform, "c-1"), newCustomer(c.platform, "c-2")
	c.createCustomers(t, ana, ben)
	to := account.Internal{ID: ident.NewInternalAccount(generator.New, noon), Platform: c.platform.ID, Customer: ana.ID, Currency: "USD",
		Type: account.InternalFiat, Status: account.InternalActive, CreatedAt: noon, UpdatedAt: noon}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.OpenInternalAccounts(ctx, []account.Internal{to})
	})
	direct, surplus := savePayer(t, c.DB, c.platform, "direct", ana.ID, noon), savePayer(t, c.DB, c.platform, "surplus", ana.ID, noon)
	rejected, unknown := savePayer(t, c.DB, c.platform, "rejected", ana.ID, noon), savePayer(t, c.DB, c.platform, "unknown",
		ident.Customer{}, noon)
	assigned, another := savePayer(t, c.DB, c.platform, "assigned", ident.Customer{}, noon),
		savePayer(t, c.DB, c.platform, "another", ben.ID, noon)
	deposit := newIncoming(c.platform.ID, ana.ID, to.ID, "")
	deposit.Receipt, deposit.State.Status = direct.Receipt, transaction.Completed
	deposit.ID.SetUUID(direct.Receipt.UUID())
	refused, sent := savePayer(t, c.DB, c.platform, "refused", ana.ID, noon), savePayer(t, c.DB, c.platform, "sent", ana.ID, noon)
	failed := func(of ports.ReceiptPayer) transaction.Transaction {
		failed := newIncoming(c.platform.ID, ana.ID, to.ID, "")
		failed.Receipt, failed.State = of.Receipt, transaction.State{Status: transaction.Failed, Refund: transaction.RefundUnpaid}
		return failed
	}
	owed, settled := failed(refused), failed(sent)
	// The one that is sent again, that has failed again, and that has ended: of each the first refund is assigned.
	again, pending := map[ident.Receipt]transaction.Transaction{}, ident.Receipt{}
	for name, status := range map[string]transaction.RefundStatus{"again": transaction.RefundPending, "twice": transaction.RefundUnpaid,
		"arrived": transaction.RefundCompleted} {
		resent := failed(savePayer(t, c.DB, c.platform, name, ana.ID, noon))
		resent.Refund = &transaction.Refund{Again: status}
		if again[resent.Receipt] = resent; status == transaction.RefundPending {
			pending = resent.Receipt
		}
	}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreateTransactions(ctx, []transaction.Transaction{deposit, owed, settled}); err != nil {
			return err
		}
		resent := []transaction.Transaction{settled}
		for of, t := range again {
			resent = append(resent, t)
			if err := tx.CreateTransactions(ctx, []transaction.Transaction{t}); err != nil {
				return err
			}
			if t.Refund.Again != transaction.RefundUnpaid {
				continue
			}
			if err := tx.SaveUnmatched(ctx, []ports.UnmatchedFunds{{Platform: c.platform.ID, Posting: generator.New(noon),
				Receipt: of}}); err != nil {
				return err
			}
		}
		for _, t := range resent {
			var refund ident.Receipt
			refund.SetUUID(t.ID.UUID())
			if err := tx.AssignUnmatched(ctx, transaction.Unmatched{Posting: generator.New(noon), Receipt: transaction.Receipt{
				Platform: c.platform.ID, ID: refund}}, transaction.Assignment{Note: "sent", By: transaction.ReversedBy, At: noon}); err != nil {
				return err
			}
		}
		for _, p := range []ports.ReceiptPayer{rejected, unknown, assigned} {
			if err := tx.SaveUnmatched(ctx, []ports.UnmatchedFunds{{Platform: c.platform.ID, Posting: p.Receipt.UUID(),
				Receipt: p.Receipt}}); err != nil {
				return err
			}
		}
		funds := transaction.Unmatched{Posting: assigned.Receipt.UUID(), Receipt: transaction.Receipt{Platform: c.platform.ID,
			ID: assigned.Receipt}}
		return tx.AssignUnmatched(ctx, funds, transaction.Assignment{Transaction: ident.NewTransaction(generator.New, noon), Account: to.ID,
			Note: "rent", By: transaction.ReversedBy, At: noon})
	})
	if n := c.count(t, `receipt_payers WHERE customer_id = $1`, ana.ID.UUID()); n != 9 {
		t.Errorf("%d payers are the customer's, want 9 with the one that was assigned", n)
	}

	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if left, err := tx.CustomerFunds(ctx, c.platform.ID, ana.ID); err != nil || again[pending].ID != left.Unsettled {
			t.Errorf("the customer can be deleted while a refund is sent again: %+v, %v", left, err)
		}
		if _, _, _, err := tx.EraseTransactionsOf(ctx, c.platform.ID, ana.ID, ident.Transaction{}, 10); err != nil {
			return err
		}
		_, err := tx.EraseRecordsOf(ctx, c.platform.ID, ana.ID)
		return err
	})

	all := []ident.Receipt{direct.Receipt, surplus.Receipt, rejected.Receipt, unknown.Receipt, assigned.Receipt, another.Receipt,
		refused.Receipt, sent.Receipt}
	kept := []ident.Receipt{rejected.Receipt, unknown.Receipt, another.Receipt, refused.Receipt}
	for of, t := range again {
		all = append(all, of)
		if t.Refund.Again != transaction.RefundCompleted {
			kept = append(kept, of)
		}
	}
	left, err := c.ReceiptPayers(t.Context(), c.platform.ID, all)
	if err != nil || len(left) != 6 {
		t.Errorf("%d payers are left, want 6: %v", len(left), err)
	}
	for _, p := range kept {
		if _, kept := left[p]; !kept {
			t.Errorf("%s was erased", p)
		}
	}
	if n := c.count(t, `receipt_payers WHERE customer_id IS NULL`); n != 5 {
		t.Errorf("%d payers are nobody's, want 5", n)
	}
}

func TestReceiptPayers_DeletedAfterTheirRetention(t *testing.T) {
	t.Parallel()
	// Payers of money that is no customer's are deleted when their retention ends; those of customers are not.
	c := newRetentionEnv(t)
	ana := newCustomer(c.platform, "c-1")
	c.createCustomers(t, ana)
	savePayer(t, c.DB, c.platform, "old", ident.Customer{}, noon.Add(justBefore))
	savePayer(t, c.DB, c.platform, "older", ident.Customer{}, noon.Add(longBefore))
	kept := []ports.ReceiptPayer{savePayer(t, c.DB, c.platform, "young", ident.Customer{}, noon), savePayer(t, c.DB, c.platform, "ana", ana.ID,
		noon.Add(longBefore))}
	var deleted int

	err := c.DeleteOld(t.Context(), postgres.RetentionCutoffs{ReceiptPayers: noon}, func(table string, n int) {
		if table == "receipt_payers" {
			deleted += n
		}
	})

	left, readErr := c.ReceiptPayers(t.Context(), c.platform.ID, []ident.Receipt{kept[0].Receipt, kept[1].Receipt})
	if err != nil || readErr != nil || deleted != 2 || len(left) != 2 || c.count(t, "receipt_payers") != 2 {
		t.Errorf("%d deleted, %d left; %v, %v", deleted, len(left), err, readErr)
	}
}
