package customers_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/app/customers"
	"causeway/app/internal/apptest"
	"causeway/core/account"
	"causeway/core/agent"
	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/invitation"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/ports"
)

func TestErase_LeavesTheLedgerOnly(t *testing.T) {
	t.Parallel()
	// Nothing in the database contains the data of an erased customer; the amounts, references and times
	// of its payments and its entries remain, and the data of others. A unit of work that is repeated after
	// a serialization failure leaves nothing out.
	env := newEnv(t)
	env.customers.Store = repeatingStore{env.Store}
	const secret = "Zacharias"
	acme := env.NewCustomer(secret, func(c *customer.Customer) {
		c.Type, c.Email, c.Region, c.UMAAddress = customer.Business, secret+"@example.com", "US", "$"+strings.ToLower(secret)+"@uma.test"
		c.Business, c.Address = &customer.BusinessInfo{LegalName: secret}, &party.Address{Line1: secret, City: "Austin", State: "TX",
			PostalCode: "78701", Country: "US"}
	})
	dollars, stablecoins := env.NewInternalAccount(acme.ID, "USD", 0), env.NewInternalAccount(acme.ID, "USDB", 0)
	if err := env.Exec(fmt.Sprintf("UPDATE internal_accounts SET instructions = '[{\"Notes\":\"%s\"}]' WHERE id = '%s'", secret,
		dollars.ID.UUID())); err != nil {
		t.Fatal(err)
	}
	bank := env.NewExternalAccount(account.External{Customer: acme.ID, Currency: "USD", Type: account.USAccount, PlatformAccountID: secret,
		Fields: map[string]string{"accountNumber": secret}, VerifiedName: secret})
	bos := env.NewBankAccount("123456789")
	owner := customer.BeneficialOwner{ID: ident.NewBeneficialOwner(env.IDs.New, apptest.Noon), Platform: acme.Platform, Customer: acme.ID,
		Roles:  []customer.OwnerRole{customer.UltimateOwner},
		Person: customer.PersonalInfo{FirstName: secret}, Status: customer.Approved, CreatedAt: apptest.Noon, UpdatedAt: apptest.Noon}
	var payments []ident.Transaction
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		for range customers.EraseBatch + 1 {
			paid := env.transaction(ident.NewTransaction(env.IDs.New, apptest.Noon), acme, transaction.Incoming,
				transaction.State{Status: transaction.Completed, Stage: transaction.Delivered})
			paid.Source.UMA, paid.Destination.UMA, paid.Description, paid.Reference = "$"+strings.ToLower(secret)+"@bank.example", acme.UMAAddress,
				secret, "REF-1"+paid.ID.UUID().String()
			paid.Counterparty = map[string]string{"FULL_NAME": secret}
			payments = append(payments, paid.ID)
			if err := tx.CreateTransactions(ctx, []transaction.Transaction{paid}); err != nil {
				return err
			}
		}
		for _, holder := range []document.Holder{{Customer: acme.ID}, {Owner: owner.ID}} {
			if err := tx.CreateDocument(ctx, document.Document{ID: ident.NewDocument(env.IDs.New, apptest.Noon), Platform: acme.Platform,
				Holder:    holder,
				Details:   document.Details{Type: document.Passport, Country: "US", Number: secret},
				File:      document.File{Name: secret, ContentType: document.JPEG, Size: 1, Blob: env.IDs.New(apptest.Noon), Key: []byte("k")},
				CreatedAt: apptest.Noon, UpdatedAt: apptest.Noon}); err != nil {
				return err
			}
		}
		var subjects []uuid.UUID
		for _, id := range payments {
			subjects = append(subjects, id.UUID())
		}
		subjects = append(subjects, acme.ID.UUID(), dollars.ID.UUID(), env.Customer.ID.UUID())
		for _, i := range []invitation.Invitation{
			{Inviter: acme.ID, InviterUMA: acme.UMAAddress, FirstName: secret, State: invitation.Pending},
			{Inviter: env.Customer.ID, InviterUMA: env.Customer.UMAAddress, FirstName: secret, State: invitation.Claimed, ClaimedAt: apptest.Noon,
				InviteePlatform: acme.Platform, Invitee: acme.ID, InviteeUMA: acme.UMAAddress},
		} {
			i.ID, i.Platform, i.Code, i.CreatedAt = env.IDs.New(apptest.Noon), acme.Platform, ident.ShortCode(env.IDs.New(apptest.Noon)),
				apptest.Noon
			if err := tx.CreateInvitation(ctx, i); err != nil {
				return err
			}
			subjects = append(subjects, i.ID)
		}
		for _, subject := range subjects {
			if err := env.Tx(tx).Emit(ctx, []event.Event{{ID: ident.NewWebhook(env.IDs.New, apptest.Noon), Platform: acme.Platform,
				Type: event.Test, Name: event.TestSent, Subject: subject, OccurredAt: apptest.Noon}}); err != nil {
				return err
			}
		}
		credential := wallet.Credential{ID: wallet.DefaultCredentialID(stablecoins.ID), Platform: acme.Platform, Account: stablecoins.ID,
			Type:     wallet.EmailOTP,
			Nickname: acme.Email, SentTo: acme.Email, Identity: &wallet.Identity{Issuer: "https://accounts.google.com", Subject: secret,
				Email: acme.Email}, CreatedAt: apptest.Noon, UpdatedAt: apptest.Noon}
		session := wallet.Session{ID: ident.NewSession(env.IDs.New, apptest.Noon), Platform: acme.Platform, Account: stablecoins.ID,
			Credential: credential.ID, Type: wallet.EmailOTP,
			Certificate: wallet.Certificate{Statement: secret}, CreatedAt: apptest.Noon, UpdatedAt: apptest.Noon, ExpiresAt: apptest.Noon}
		if err := tx.SaveWallet(ctx, wallet.Change{Credentials: []wallet.Credential{credential},
			Sessions: []wallet.Session{session}}); err != nil {
			return err
		}
		return tx.CreateBeneficialOwner(ctx, owner)
	})
	// Most events of a customer are those of its balances.
	if err := env.Exec(fmt.Sprintf("UPDATE webhook_events SET body = '%s'", secret),
		fmt.Sprintf("INSERT INTO webhook_events (platform_id, id, subject_id, created_at, type, name, body) SELECT platform_id, "+
			"overlay(gen_random_uuid()::text PLACING left(id::text, 13) FROM 1)::uuid, subject_id, created_at, type, name, body FROM "+
			"webhook_events, generate_series(1, %d) WHERE subject_id = '%s'", customers.EraseBatch, dollars.ID.UUID()),
		fmt.Sprintf("INSERT INTO webhook_attempts (platform_id, event_id, attempted_at, attempt_no, duration_ms, status_code, given_up, "+
			"outcome, error, response) SELECT platform_id, id, created_at, 1, 1, 200, false, 'DELIVERED', '', CASE WHEN subject_id = '%s' THEN "+
			"'of another' ELSE '%s' END FROM webhook_events", env.Customer.ID.UUID(), secret)); err != nil {
		t.Fatal(err)
	}
	// An agent of the customer was renamed.
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.RecordOperatorAction(ctx, platform.OperatorAction{ID: env.IDs.New(apptest.Noon), Platform: acme.Platform,
			Kind: platform.UpdatedAgent, Actor: "ana", At: apptest.Noon,
			Changes: agent.Changed(agent.Agent{Name: secret}, agent.Agent{Name: secret + " & sons"})})
	})
	deleted, err := env.customers.Delete(t.Context(), acme.Platform, platform.Service, acme.ID)
	if err != nil {
		t.Fatal(err)
	}

	// An earlier version leaves the agents of a customer that it deletes.
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.CreateAgent(ctx, agent.Agent{ID: ident.NewAgent(env.IDs.New, apptest.Noon), Platform: acme.Platform, Customer: acme.ID,
			Name: secret, CreatedAt: apptest.Noon, UpdatedAt: apptest.Noon})
	})

	erased, err := env.customers.Erase(t.Context(), acme.Platform, acme.ID, platform.Author{Actor: "ana"}, true)

	if want := (customer.Erased{Transactions: customers.EraseBatch + 1, ExternalAccounts: 1, BeneficialOwners: 1, Documents: 2,
		Webhooks: len(payments) + customers.EraseBatch + 4}); err != nil || erased != want {
		t.Fatalf("erased %+v, %v; want %+v", erased, err, want)
	}
	for _, table := range env.QueryStrings(
		`SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`) {
		if rows := env.QueryStrings(fmt.Sprintf(`SELECT r::text FROM %q r WHERE r::text ILIKE '%%%s%%'`, table, secret)); len(rows) > 0 {
			t.Errorf("%s still has %q", table, rows)
		}
	}
	left := env.QueryStrings(
		`SELECT e.subject_id || ' ' || a.response FROM webhook_events e JOIN webhook_attempts a ON a.platform_id = e.platform_id AND a.event_id = e.id
		WHERE encode(e.body, 'escape') !~ $re$^\{"webhookId":"[^"]*","type":"[A-Z_]*","event":"[A-Z_.]*","timestamp":"[^"]*"\}$$re$ OR a.response <> ''`)
	if !slices.Equal(left, []string{env.Customer.ID.UUID().String() + " of another"}) {
		t.Errorf("webhooks with a resource or a response: %d, %.200q; want one of another customer", len(left), left)
	}
	if read, err := env.customers.Get(t.Context(), acme.Platform, acme.ID); err != nil ||
		!reflect.DeepEqual(read, deleted.Erase(read.ErasedAt)) || !read.DeletedAt.Equal(deleted.DeletedAt) {
		t.Errorf("read %+v, %v", read, err)
	}
	for _, id := range payments[:2] {
		if kept := env.Transaction(id); kept.Pricing.Sent != (money.Amount{Minor: 1_00, Currency: "USD"}) ||
			kept.Source.UMA != "$erased@bank.example" || kept.Reference == "" || kept.State.Status != transaction.Completed {
			t.Errorf("kept %+v", kept)
		}
	}
	if _, err := env.Store.ExternalAccount(t.Context(), acme.Platform, bank.ID); !fault.Is(err, fault.ExternalAccountNotFound) {
		t.Errorf("the external account: %v", err)
	}
	if _, err := env.Store.ExternalAccount(t.Context(), acme.Platform, bos.ID); err != nil {
		t.Errorf("the external account of another customer: %v", err)
	}
	if n := env.CountJobs(ports.StepDeleteBlob); n != 2 {
		t.Errorf("%d jobs delete files, want 2", n)
	}
	actions := env.QueryStrings(`SELECT action || ' ' || actor || ' ' || subject FROM operator_actions WHERE action = 'ERASE_CUSTOMER' AND subject_id = $1`, acme.ID.UUID())
	if len(actions) != 1 || !strings.HasPrefix(actions[0], "ERASE_CUSTOMER ana transactions 501, external accounts 1, ") {
		t.Errorf("recorded %q", actions)
	}
}

func TestErase_RefusedChangesNothing(t *testing.T) {
	t.Parallel()
	// A customer who is not deleted, must be kept, is erased or unknown is not erased, nor without the name
	// of the operator.
	env := newEnv(t)
	gone := env.NewCustomer("gone", func(c *customer.Customer) { c.DeletedAt = apptest.Noon })
	for name, c := range map[string]struct {
		platform ident.Platform
		id       ident.Customer
		actor    string
		early    bool
		want     fault.Code
		fields   []string
	}{
		"not deleted":         {env.Platform.ID, env.Customer.ID, "ana", true, fault.Conflict, nil},
		"must be kept":        {env.Platform.ID, gone.ID, "ana", false, fault.Conflict, nil},
		"without a name":      {env.Platform.ID, gone.ID, " ", true, fault.InvalidInput, []string{"actor"}},
		"of another platform": {env.NewPlatform().ID, gone.ID, "ana", true, fault.UserNotFound, nil},
	} {
		_, err := env.customers.Erase(t.Context(), c.platform, c.id, platform.Author{Actor: c.actor}, c.early)
		apptest.WantFault(t, name, err, c.want, c.fields...)
	}
	for _, c := range []customer.Customer{env.Customer, gone} {
		if read, err := env.customers.Get(t.Context(), env.Platform.ID, c.ID); err != nil || !reflect.DeepEqual(read, c) {
			t.Errorf("changed to %+v, %v", read, err)
		}
	}

	if _, err := env.customers.Erase(t.Context(), env.Platform.ID, gone.ID, platform.Author{Actor: "ana"}, true); err != nil {
		t.Fatal(err)
	}
	_, again := env.customers.Erase(t.Context(), env.Platform.ID, gone.ID, platform.Author{Actor: "ana"}, true)
	apptest.WantFault(t, "again", again, fault.Conflict)
}
