package customers

import (
	"context"
	"fmt"

	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// eraseBatch is the number of transactions, or webhooks, that are erased in one unit of work.
const eraseBatch = 500

// Erase erases the personal data of a deleted customer, and records it with the name of the operator.
// early erases data that the law on money laundering asks to keep (customer.YearsKept). The ledger, the
// amounts, the times and the references remain. Stored responses and lookups have retentions of their
// own. A repeated call continues one that was interrupted. Faults: USER_NOT_FOUND,
// INVALID_INPUT without a name; CONFLICT if it is not deleted, has money left, must be kept or is erased.
func (s *Service) Erase(ctx context.Context, platformID ident.Platform, id ident.Customer, by platform.Author,
	early bool) (customer.Erased, error) {
	by, err := by.Parsed()
	if err != nil {
		return customer.Erased{}, err
	}
	transactions, webhooks, err := s.eraseTransactions(ctx, platformID, id, early)
	if err != nil {
		return customer.Erased{}, err
	}
	others, err := s.eraseWebhooks(ctx, platformID, id)
	if err != nil {
		return customer.Erased{}, err
	}
	var erased customer.Erased
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		before, err := s.lockErasable(ctx, tx, platformID, id, early)
		if err != nil {
			return err
		}
		documents, err := s.deleteDocuments(ctx, tx, platformID, id)
		if err != nil {
			return err
		}
		if erased, err = tx.EraseRecordsOf(ctx, platformID, id); err != nil {
			return err
		}
		erased.Transactions, erased.Documents, erased.Webhooks = transactions, documents, webhooks+others
		after := before.Erase(s.Clock.Now())
		if err := tx.UpdateCustomer(ctx, after); err != nil {
			return err
		}
		return tx.RecordOperatorAction(ctx, platform.OperatorAction{
			ID: s.IDs.New(after.ErasedAt), Platform: platformID, Kind: platform.OperatorErasedCustomer, Subject: id.UUID(), Actor: by.Actor,
			Person: by.Person,
			At:     after.ErasedAt,
			Name: fmt.Sprintf("transactions %d, external accounts %d, beneficial owners %d, verifications %d, documents %d, webhooks %d, early %t",
				erased.Transactions, erased.ExternalAccounts, erased.BeneficialOwners, erased.Verifications, erased.Documents, erased.Webhooks, early),
		})
	})
	return erased, err
}

// eraseTransactions erases the transactions of a customer who may be erased with their webhooks, and
// returns how many there were. The money that is left is looked for once, because that reads all of them;
// Erase does so again.
func (s *Service) eraseTransactions(ctx context.Context, platformID ident.Platform, id ident.Customer,
	early bool) (total, webhooks int, err error) {
	if err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		_, err := s.lockErasable(ctx, tx, platformID, id, early)
		return err
	}); err != nil {
		return 0, 0, err
	}
	for after := (ident.Transaction{}); ; {
		n, events, last := 0, 0, after // after does not change before the commit: a unit of work may run twice
		if err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
			n, events, last, err = tx.EraseTransactionsOf(ctx, platformID, id, after, eraseBatch)
			return err
		}); err != nil {
			return total, webhooks, err
		}
		total, webhooks = total+n, webhooks+events
		if n < eraseBatch {
			return total, webhooks, nil
		}
		after = last
	}
}

// eraseWebhooks erases the other webhooks of a customer, and returns how many there were.
func (s *Service) eraseWebhooks(ctx context.Context, platformID ident.Platform, id ident.Customer) (total int, err error) {
	for after := (ident.Webhook{}); ; {
		n, last := 0, after
		if err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
			n, last, err = tx.EraseWebhooksOf(ctx, platformID, id, after, eraseBatch)
			return err
		}); err != nil {
			return total, err
		}
		if total += n; n < eraseBatch {
			return total, nil
		}
		after = last
	}
}

// lockErasable locks a customer who may be erased.
func (s *Service) lockErasable(ctx context.Context, tx Tx, platformID ident.Platform, id ident.Customer,
	early bool) (customer.Customer, error) {
	found, err := tx.LockCustomer(ctx, platformID, id)
	if err != nil {
		return found, err
	}
	left, err := tx.CustomerFunds(ctx, platformID, id)
	if err != nil {
		return found, err
	}
	return found, found.CheckErasable(left, early, s.Clock.Now())
}

// deleteDocuments deletes the documents of a customer and its beneficial owners, and returns how many.
// Their files are deleted by jobs.
func (s *Service) deleteDocuments(ctx context.Context, tx Tx, platformID ident.Platform, id ident.Customer) (int, error) {
	owners, err := tx.BeneficialOwnersOf(ctx, platformID, id)
	if err != nil {
		return 0, err
	}
	holders := []document.Holder{{Customer: id}}
	for _, owner := range owners {
		holders = append(holders, document.Holder{Owner: owner.ID})
	}
	return s.EraseDocuments(ctx, tx, platformID, holders...)
}
