package books

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/foureyes"
	"causeway/app/internal/uow"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/proposal"
	"causeway/ledger"
	"causeway/ports"
)

// OpeningImport is a file with the balances of earlier books.
type OpeningImport struct {
	File io.Reader
	// AsOf is the day at whose end (UTC) the balances were those of the file.
	AsOf time.Time
	// AgainstBroughtForward leaves the difference of debits and credits at equity/brought-forward. Without it, a
	// file with a difference is refused.
	AgainstBroughtForward bool
}

// PostedOpening is the posting of the opening balances in one currency.
type PostedOpening struct {
	Posting ledger.Posting
	books.OpeningBalances
}

// ImportOpeningBalances posts the balances of a CSV file, in one posting a currency, at the last microsecond of a
// day, or makes a proposal of that. Faults: INVALID_INPUT with every row that is wrong; CONFLICT if there are opening
// balances in a currency that are not reversed, if accounts have a balance at that time, or if the month of the day
// accepts no posting; AMOUNT_OUT_OF_RANGE for the balance of a customer that is too large; those of foureyes.Run.
func (s *Service) ImportOpeningBalances(ctx context.Context, p ident.Platform, c Change, request *ports.IdempotentRequest,
	in OpeningImport) (posted proposal.Outcome[[]PostedOpening], err error) {
	r := openingRequest{AsOf: in.AsOf.Format(time.DateOnly), Note: c.Note}
	if in.AgainstBroughtForward {
		r.BalanceAgainst = ledger.EquityBroughtForward
	}
	// What is wrong with the request is named before the file is read.
	if err := s.checkOpeningRequest(r); err != nil {
		return posted, err
	}
	rows, err := readCSV(in.File, books.MaxOpeningLines+1)
	if err != nil {
		return posted, err
	}
	lines, err := books.ParseOpeningRows(rows)
	if err != nil {
		return posted, err
	}
	r.Balances = newOpeningLines(lines)
	return run(ctx, s, s.opening(), p, c, request, r)
}

// openingRequest is the stored form of opening balances.
type openingRequest struct {
	AsOf           string        `json:"asOf"`
	BalanceAgainst string        `json:"balanceAgainst,omitempty"`
	Note           string        `json:"note,omitempty"`
	Balances       []openingLine `json:"balances"`
}

// openingLine is a balance: a debit above zero, a credit below.
type openingLine struct {
	Row      int            `json:"row"`
	Account  string         `json:"account"`
	Currency money.Currency `json:"currency"`
	Amount   int64          `json:"amount"`
	GLCode   string         `json:"glCode,omitempty"`
}

func newOpeningLines(lines []books.OpeningLine) []openingLine {
	stored := make([]openingLine, len(lines))
	for i, l := range lines {
		stored[i] = openingLine{l.Row, l.Path, l.Currency, l.Minor, l.GLCode}
	}
	return stored
}

func (r openingRequest) lines() []books.OpeningLine {
	lines := make([]books.OpeningLine, len(r.Balances))
	for i, l := range r.Balances {
		lines[i] = books.OpeningLine{Row: l.Row, Path: l.Account, Currency: l.Currency, Minor: l.Amount, GLCode: l.GLCode}
	}
	return lines
}

func (r openingRequest) asOf() time.Time {
	day, _ := time.Parse(time.DateOnly, r.AsOf) // the zero day is refused
	return day
}

func (s *Service) checkOpeningRequest(r openingRequest) error {
	effective, bad := books.OpeningMoment(r.asOf()), Change{Note: r.Note}.problems()
	if !effective.Before(s.now()) || effective.Before(period.Earliest.Start()) {
		bad = append(bad, fault.Field{Field: "asOf", Message: fmt.Sprintf("must be a day from %s on that is over (UTC)",
			period.Earliest.Start().Format(time.DateOnly))})
	}
	if len(bad) > 0 {
		return fault.Invalid(bad...)
	}
	return nil
}

func (s *Service) opening() foureyes.Operation[Tx, openingRequest, []PostedOpening] {
	return foureyes.Operation[Tx, openingRequest, []PostedOpening]{ID: "importOpeningBalances", Action: books.ActionChart,
		Check: func(ctx context.Context, p ident.Platform, r openingRequest) error {
			if err := s.checkOpeningRequest(r); err != nil {
				return err
			}
			checked, err := checkOpening(ctx, s.Store, p, r)
			if err != nil {
				return err
			}
			return s.checkNothingBefore(ctx, p, books.OpeningMoment(r.asOf()), checked)
		},
		Execute: s.postOpening}
}

func (s *Service) postOpening(ctx context.Context, tx Tx, c foureyes.Change,
	r openingRequest) (posted []PostedOpening, made string, err error) {
	calendar, err := tx.LockPeriodsShared(ctx, c.Platform)
	if err != nil {
		return nil, "", err
	}
	checked, err := checkOpening(ctx, tx, c.Platform, r)
	if err != nil {
		return nil, "", err
	}
	work, asOf := uow.NewWork(c.At, s.IDs, 0), r.asOf()
	var postings []ledger.Posting
	var authorisations []period.Authorisation
	var ids []string
	for _, b := range checked {
		id, err := s.nextOpening(ctx, c.Platform, b.Currency)
		if err != nil {
			return nil, "", err
		}
		posting := ledger.OpeningBalances(ledger.Header{ID: id, Platform: c.Platform, Effective: books.OpeningMoment(asOf),
			Memo: books.OpeningMemo(asOf)}, b.Currency, b.Balances())
		if redated := calendar.Redate(posting, true); !redated.Effective.Equal(posting.Effective) {
			return nil, "", conflict("Month closed", "The month of %s accepts no opening balances: the first that does begins on %s.", r.AsOf,
				redated.Effective.Format(time.DateOnly))
		}
		postings, authorisations = append(postings, posting), append(authorisations, authorisation(c, r.Note, posting))
		posted, ids = append(posted, PostedOpening{posting, b}), append(ids, postingID(id).String())
	}
	if err := checkOpeningAccounts(ctx, tx, work, c.Platform, checked, postings); err != nil {
		return nil, "", err
	}
	work.Post(postings...)
	if err := tx.Authorise(ctx, authorisations); err != nil {
		return nil, "", err
	}
	err = work.Write(ctx, tx)
	if errors.Is(err, ledger.ErrConflict) {
		err = conflict("Opening balances exist", "Another request has just imported opening balances in one of these currencies. List them "+
			"with GET /ledger/postings?kind=opening_balances.")
	}
	return posted, strings.Join(ids, ", "), err
}

// authorisation returns the authorisation of a posting by the author of the change. Its note is that of the
// change or, without one, the memo of the posting.
func authorisation(c foureyes.Change, note string, p ledger.Posting) period.Authorisation {
	if note == "" {
		note = p.Memo
	}
	return period.Authorisation{Platform: p.Platform, Posting: p.ID, By: c.By, Approval: c.Approval, Note: note, At: c.At}
}

// checkOpening returns the checked balances of a request. Fault: INVALID_INPUT.
// openingReader is a Store or a Tx.
type openingReader interface {
	AddedAccounts(ctx context.Context, p ident.Platform, paths []string) (books.AddedAccounts, error)
	GLMapping(ctx context.Context, p ident.Platform, at time.Time) (books.MappingVersion, error)
}

func checkOpening(ctx context.Context, reader openingReader, p ident.Platform,
	r openingRequest) (_ []books.OpeningBalances, err error) {
	lines := r.lines()
	checks := books.OpeningChecks{AgainstBroughtForward: r.BalanceAgainst != ""}
	if checks.Added, err = reader.AddedAccounts(ctx, p, books.OpeningPaths(lines)); err != nil {
		return nil, err
	}
	mapping, err := reader.GLMapping(ctx, p, noMoment)
	if err != nil {
		return nil, err
	}
	checks.Mapping = mapping.Mapping
	return books.CheckOpening(lines, checks)
}

// checkNothingBefore returns CONFLICT if an account has a balance at the time of the opening balances, in one of
// their currencies: they would count it a second time.
func (s *Service) checkNothingBefore(ctx context.Context, p ident.Platform, effective time.Time, opening []books.OpeningBalances) error {
	currencies := map[money.Currency]bool{}
	for _, b := range opening {
		currencies[b.Currency] = true
	}
	var found *fault.Error
	err := s.Finance.Turnovers(ctx, p, "", []ports.Cutoff{{By: ports.ByEffective, Moment: effective}}, func(a ports.AccountTurnovers) error {
		balance := a.Turnovers[0].Balance(a.Class)
		if found == nil && currencies[a.Account.Currency] && balance.Sign() != 0 {
			found = fault.New(fault.Conflict, "The account %s has a balance of %s %s at that time, which the opening balances would count again. "+
				"Choose a day before the first posting, or reverse earlier opening balances.", a.Account.Path, balance.Major(a.Account.Currency),
				a.Account.Currency)
			found.Reason = "Balances exist"
			found.Details = map[string]any{"account": a.Account.Path, "currency": string(a.Account.Currency)}
		}
		return nil
	})
	if err == nil && found != nil {
		return found
	}
	return err
}

// maxOpenings is the maximum number of opening balances in a currency, with those that were reversed.
const maxOpenings = 1000

// nextOpening returns the id of the next opening balances in a currency. Fault: CONFLICT if there are some that are
// not reversed.
func (s *Service) nextOpening(ctx context.Context, p ident.Platform, currency money.Currency) (uuid.UUID, error) {
	present, next, err := s.latestOpening(ctx, p, currency)
	if err == nil && present.ID != uuid.Nil {
		err = conflict("Opening balances exist", "The platform has opening balances in %s, as of %s (%s). Reverse them first, with POST "+
			"/ledger/opening-balances/%s/reverse or `causeway ledger reverse-opening-balances %s`.",
			currency, present.Effective.Format(time.DateOnly), postingID(present.ID), currency, currency)
	}
	return next, err
}

// latestOpening returns the opening balances in a currency that are not reversed, without an id if there are none,
// and the id of the next ones.
func (s *Service) latestOpening(ctx context.Context, p ident.Platform,
	currency money.Currency) (present ports.RecordedPosting, next uuid.UUID, err error) {
	for nth := range maxOpenings {
		id := ledger.OpeningBalancesID(p, currency, nth)
		found, exists, err := s.Finance.RecordedPosting(ctx, p, id)
		if err != nil || !exists {
			return ports.RecordedPosting{}, id, err
		}
		if found.ReversedBy == uuid.Nil {
			return found, uuid.Nil, nil
		}
	}
	return present, next, conflict("Too many opening balances", "The opening balances in %s were imported and reversed %d times.",
		currency, maxOpenings)
}

// checkOpeningAccounts locks the balances of customers, wallets and the platform in the postings, and returns
// INVALID_INPUT for accounts that do not exist in that currency or whose customer was deleted.
func checkOpeningAccounts(ctx context.Context, tx Tx, work *uow.Work, p ident.Platform, opening []books.OpeningBalances,
	postings []ledger.Posting) error {
	rows := map[ledger.Account]int{}
	var accounts []ledger.Account
	for _, b := range opening {
		for _, l := range b.Lines {
			a := ledger.Account{Platform: p, Path: l.Path, Currency: l.Currency}
			if _, internal := a.InternalAccount(); internal {
				accounts, rows[a] = append(accounts, a), l.Row
			}
		}
	}
	if len(accounts) == 0 {
		return nil
	}
	locked, err := tx.LockBalances(ctx, accounts)
	if err != nil {
		return err
	}
	var bad []fault.Field
	for _, a := range accounts { // in the order of the file
		found := locked[a]
		var problem string
		switch {
		case found.ID.IsZero():
			problem = "is not an account of the platform"
		case found.LedgerPath() != a.Path:
			problem = "must be " + found.LedgerPath() + ", the path of that account"
		case found.Currency != a.Currency:
			problem = "is an account in " + string(found.Currency)
		case !found.OwnerDeletedAt.IsZero():
			problem = "is an account of a deleted customer"
		default:
			continue
		}
		bad = append(bad, fault.Field{Field: fmt.Sprintf("row %d account", rows[a]), Message: problem})
	}
	if len(bad) > 0 {
		return fault.Invalid(bad...)
	}
	balances, err := work.LockBalances(ctx, tx, accounts)
	if err != nil {
		return err
	}
	return uow.CheckCapacity(balances, postings)
}

// ReverseOpeningBalances reverses the opening balances in a currency, so that others can be imported, or makes a
// proposal of that. The reversal is effective when they are, or at the start of the first month that is not closed.
// Faults: INVALID_INPUT; NOT_FOUND if there are none; INSUFFICIENT_BALANCE if a customer has spent a balance; those
// of foureyes.Run.
func (s *Service) ReverseOpeningBalances(ctx context.Context, p ident.Platform, c Change, request *ports.IdempotentRequest,
	currency money.Currency) (proposal.Outcome[ledger.Posting], error) {
	return run(ctx, s, s.openingReversal(), p, c, request, openingReversalRequest{currency, c.Note})
}

// openingReversalRequest is the stored form of a reversal of opening balances.
type openingReversalRequest struct {
	Currency money.Currency `json:"currency"`
	Note     string         `json:"note,omitempty"`
}

func (s *Service) openingReversal() foureyes.Operation[Tx, openingReversalRequest, ledger.Posting] {
	return foureyes.Operation[Tx, openingReversalRequest, ledger.Posting]{ID: "reverseOpeningBalances", Action: books.ActionChart,
		Check: func(_ context.Context, _ ident.Platform, r openingReversalRequest) error { return checkNote(r.Note) },
		Execute: func(ctx context.Context, tx Tx, c foureyes.Change, r openingReversalRequest) (ledger.Posting, string, error) {
			reversal, err := s.reverseOpening(ctx, tx, c, r)
			return reversal, postingID(reversal.ID).String(), err
		}}
}

func (s *Service) reverseOpening(ctx context.Context, tx Tx, c foureyes.Change,
	r openingReversalRequest) (reversal ledger.Posting, err error) {
	present, _, err := s.latestOpening(ctx, c.Platform, r.Currency)
	if err == nil && present.ID == uuid.Nil {
		err = fault.New(fault.NotFound, "The platform has no opening balances in %.10s that are not reversed.", r.Currency)
	}
	if err != nil {
		return reversal, err
	}
	calendar, err := tx.LockPeriodsShared(ctx, c.Platform)
	if err != nil {
		return reversal, err
	}
	reversal = calendar.Redate(ledger.Reverse(present.Posting, ledger.DerivedID(present.ID, ledger.KindReversal, 0), present.Effective,
		"Reversal of: "+present.Memo), true)
	work := uow.NewWork(c.At, s.IDs, 0)
	if err := work.CheckBalances(ctx, tx, reversal); err != nil {
		return reversal, err
	}
	work.Post(reversal)
	if err := tx.Authorise(ctx, []period.Authorisation{authorisation(c, r.Note, reversal)}); err != nil {
		return reversal, err
	}
	err = work.Write(ctx, tx)
	if errors.Is(err, ledger.ErrNotReversible) {
		err = conflict("Reversed", "Another request has just reversed the opening balances in %s.", r.Currency)
	}
	return reversal, err
}

func postingID(id uuid.UUID) ident.Posting {
	var posting ident.Posting
	posting.SetUUID(id)
	return posting
}
