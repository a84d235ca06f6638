package payments

import (
	"context"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"causeway/app/internal/spans"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

const (
	// maxReceiptsAtOnce bounds the receipts that wait for a batch: fewer than its queue holds, so that those of a feed
	// do not fill it.
	maxReceiptsAtOnce = 512
	// maxReferenceKeys bounds the keys of one search for references.
	maxReferenceKeys = 5000
)

// fundingAccounts returns the internal accounts that have the references of receipts.
func (s *Service) fundingAccounts(ctx context.Context, receipts ...transaction.Receipt) (map[ports.ReferenceKey]account.Internal, error) {
	found := map[ports.ReferenceKey]account.Internal{}
	var keys []ports.ReferenceKey
	for _, r := range receipts {
		if account.IsFundingReference(r.Reference) {
			keys = append(keys, ports.ReferenceKey{Platform: r.Platform, Reference: r.Reference})
		}
	}
	for chunk := range slices.Chunk(keys, maxReferenceKeys) {
		accounts, err := s.Store.InternalAccountsByReference(ctx, chunk)
		if err != nil {
			return nil, err
		}
		maps.Copy(found, accounts)
	}
	return found, nil
}

// receiveOrDeposit takes a receipt: for the account that has its reference, or else for the quote that has it.
func (s *Service) receiveOrDeposit(ctx context.Context, r ports.RailReceipt, accounts map[ports.ReferenceKey]account.Internal,
	claim *ports.IdempotentRequest) (transaction.Transaction, error) {
	if to, known := accounts[ports.ReferenceKey{Platform: r.Platform, Reference: r.Reference}]; known {
		return s.depositBatcher.Do(ctx, r.Platform, depositCommand{storableReceipt(r), to.ID, claim, spans.Context(ctx)})
	}
	return s.receiveBatcher.Do(ctx, r.Platform, receiveCommand{receipt: storableReceipt(r), idempotency: claim})
}

// takeReceipts takes money that was received. A payment whose reference is not known is unmatched funds of its platform.
func (f *Feeds) takeReceipts(ctx context.Context, p *piece, reported []ports.RailReceipt) error {
	now := f.service.Clock.Now()
	receipts := make([]ports.RailReceipt, 0, len(reported))
	indexes := make([]int, 0, len(reported)) // in reported
	for i, r := range reported {
		r.Receipt = r.Storable()
		r.ID = ident.NewReceipt(f.service.IDs.New, now)
		err := checkReceipt(r.Receipt)
		item := receiptItem(r)
		if foreign := p.checkPlatform(r.Platform); foreign != nil {
			item.Platform, err = ident.Platform{}, foreign
		}
		if err == nil && len(p.Currencies) > 0 && !slices.Contains(p.Currencies, r.Amount.Currency) {
			err = reject("the connection does not carry %s: let it, or ask the partner whose money it is", r.Amount.Currency)
		}
		if err != nil {
			if err := p.failed(now, item, r, err); err != nil {
				return err
			}
			continue
		}
		if r.At.After(now) {
			r.At = now // a chain's clock may be ahead
		}
		receipts, indexes = append(receipts, r), append(indexes, i)
	}
	if err := f.findPlatforms(ctx, p, receipts); err != nil {
		return err
	}
	plain := make([]transaction.Receipt, len(receipts))
	for i, r := range receipts {
		plain[i] = r.Receipt
	}
	accounts, err := f.service.fundingAccounts(ctx, plain...)
	if err != nil {
		return err
	}
	problems := make([]error, len(receipts))
	var taking errgroup.Group
	taking.SetLimit(maxReceiptsAtOnce)
	for i, r := range receipts {
		if r.Platform.IsZero() {
			problems[i] = rejected{errNoPlatform}
			continue
		}
		taking.Go(func() error {
			_, problems[i] = f.service.receiveOrDeposit(ctx, r, accounts, nil)
			return nil
		})
	}
	_ = taking.Wait() // each has its problem
	if err := f.compareStored(ctx, p, plain, problems); err != nil {
		return err
	}
	var received []transaction.Receipt
	for i, r := range receipts {
		if problems[i] == nil {
			received = append(received, plain[i])
		} else {
			if err := p.failed(now, receiptItem(r), reported[indexes[i]], problems[i]); err != nil {
				return err
			}
		}
	}
	if len(received) == 0 {
		return nil
	}
	if err := f.Received.KeepRailReceipts(ctx, p.Name, received, now); err != nil {
		return err
	}
	return f.retryReversals(ctx, p, received)
}

func receiptItem(r ports.RailReceipt) ports.RailFeedItem {
	return ports.RailFeedItem{ID: r.ID.UUID(), Platform: r.Platform, Kind: ports.RailFeedReceipt, Key: string(r.Rail) + "/" + r.PartnerID}
}

// checkReceipt returns why a receipt cannot be taken.
func checkReceipt(r transaction.Receipt) error {
	switch err := checkMoney(r.Rail, r.Amount, r.At); {
	case err != nil:
		return err
	case r.Amount.Minor < 0:
		return reject("the amount %d is not possible", r.Amount.Minor)
	case !r.Amount.Currency.Payable():
		return reject("%s is only a currency of fees; a payment in it has no owner: book it as an adjustment", r.Amount.Currency)
	case r.PartnerID == "":
		return reject("it has no id of the partner")
	}
	return nil
}

// findPlatforms sets the platforms of receipts that have none: the one that has the receipt already, the one that knows the
// reference or, if none or several do, the one for unmatched money.
func (f *Feeds) findPlatforms(ctx context.Context, p *piece, receipts []ports.RailReceipt) error {
	owners := map[string]map[ident.Platform]bool{}
	var keys []ports.ReferenceKey
	for _, r := range receipts {
		if r.Platform.IsZero() && r.Reference != "" && owners[r.Reference] == nil {
			owners[r.Reference] = map[ident.Platform]bool{}
			for _, of := range p.platforms {
				keys = append(keys, ports.ReferenceKey{Platform: of, Reference: r.Reference})
			}
		}
	}
	for chunk := range slices.Chunk(keys, maxReferenceKeys) {
		accounts, err := f.service.Store.InternalAccountsByReference(ctx, chunk)
		if err != nil {
			return err
		}
		quotes, err := f.service.Store.TransactionsByReference(ctx, chunk)
		if err != nil {
			return err
		}
		for key := range accounts {
			owners[key.Reference][key.Platform] = true
		}
		for key := range quotes {
			owners[key.Reference][key.Platform] = true
		}
	}
	if err := f.findStored(ctx, p, receipts); err != nil {
		return err
	}
	for i := range receipts {
		if of := owners[receipts[i].Reference]; receipts[i].Platform.IsZero() && len(of) == 1 {
			for only := range of {
				receipts[i].Platform = only
			}
		}
		receipts[i].Platform = p.orUnmatched(receipts[i].Platform)
	}
	return nil
}

func isFinalFault(err error) bool {
	failure, is := fault.As(err)
	return is && !failure.Code.Temporary()
}

func receiptKey(r transaction.Receipt) ports.RailReceiptKey {
	return ports.RailReceiptKey{Platform: r.Platform, Rail: r.Rail, PartnerID: r.PartnerID}
}
