package ledgerdb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/core/ident"
	"causeway/ledger"
)

// Post writes postings, for any platforms, in the order given, in the transaction of q.
// Each gets the next sequence number of its platform and a recorded time: now, or one
// microsecond after the previous posting if now is not later. A posting that exists with
// the same content is skipped.
//
// Errors, with nothing written: ledger.ErrInvalid, *ledger.InsufficientBalanceError,
// ledger.ErrConflict, ledger.ErrNotReversible, ledger.ErrOverflow. Any other error is a
// database error; the caller must roll the transaction back. After one that IsOutdated, the
// same postings can be written in a new transaction.
//
// A posting that would be effective in a closed month, or in a soft-closed month without
// an authorisation, is redated (ledger.Posting.Redate) to the start of the first month
// that accepts it.
func (s *Store) Post(ctx context.Context, q Querier, now time.Time, postings []ledger.Posting) error {
	remaining, err := deduplicate(postings)
	if err != nil {
		return err
	}
	if err := s.checkReversals(ctx, q, remaining); err != nil {
		return err
	}
	for len(remaining) > 0 {
		refused, err := s.writeBatch(ctx, q, now, remaining)
		switch {
		case err != nil:
			return err
		case len(refused.known) > 0 || len(refused.late) > 0:
			// Rare: repeated postings with the same content, or a closed month. The next
			// round writes the rest, under the locks that this one took.
			remaining = withoutKnown(redated(remaining, refused.late), refused.known)
		case len(refused.shortages) > 0:
			return refused.shortageError()
		default:
			return nil
		}
	}
	return nil
}

// PostStatement returns the statement that writes postings as Post does, for a caller that sends
// its commit with it: the platforms then are locked for no round trip, and not by a process that
// has vanished. The statement fails if the postings cannot be written as they are; IsRefused
// reports that. Then call Post in a new transaction, which writes them or returns why not.
func (s *Store) PostStatement(ctx context.Context, q Querier, now time.Time,
	postings []ledger.Posting) (statement string, args []any, err error) {
	unique, err := deduplicate(postings)
	if err != nil {
		return "", nil, err
	}
	if err := s.checkReversals(ctx, q, unique); err != nil {
		return "", nil, err
	}
	columns, _, err := s.columnsFor(ctx, q, unique)
	if err != nil {
		return "", nil, err
	}
	return postOrFail, columns.arguments(now), nil
}

// IsRefused reports whether err is the failure of a statement of PostStatement.
func IsRefused(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "CW002"
}

// PostingError returns the error of package ledger for a statement of PostStatement that failed, or
// the error itself. If it IsOutdated, the cached accounts are forgotten.
func (s *Store) PostingError(err error) error { return s.forgetOutdated(translateError(err)) }

// deduplicate validates the postings and drops repeats within the batch.
func deduplicate(postings []ledger.Posting) ([]ledger.Posting, error) {
	first := make(map[postingKey]int, len(postings))
	unique := make([]ledger.Posting, 0, len(postings))
	for _, p := range postings {
		if err := p.Validate(); err != nil {
			return nil, err
		}
		i, repeated := first[postingKeyOf(p)]
		switch {
		case !repeated:
			first[postingKeyOf(p)] = len(unique)
			unique = append(unique, p)
		case !p.Equal(unique[i]):
			return nil, conflictError(p)
		}
	}
	return unique, nil
}

// withoutKnown drops the postings with these keys.
func withoutKnown(postings []ledger.Posting, known []postingKey) []ledger.Posting {
	return slices.DeleteFunc(postings, func(p ledger.Posting) bool { return slices.Contains(known, postingKeyOf(p)) })
}

// redated moves the postings in late to the earliest time that is allowed.
func redated(postings []ledger.Posting, late map[postingKey]time.Time) []ledger.Posting {
	for i, p := range postings {
		if to, ok := late[postingKeyOf(p)]; ok {
			postings[i] = p.Redate(to)
		}
	}
	return postings
}

// checkReversals checks that each reversal mirrors a posting in the ledger or earlier in
// the batch. The schema ensures that a posting is reversed only once.
func (s *Store) checkReversals(ctx context.Context, q Querier, batch []ledger.Posting) error {
	originals := map[postingKey]ledger.Posting{}
	var wanted []postingKey
	for _, p := range batch {
		originals[postingKeyOf(p)] = p
		if p.Reverses != uuid.Nil {
			wanted = append(wanted, postingKey{p.Platform, p.Reverses})
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	stored, err := s.postings(ctx, q, wanted)
	if err != nil {
		return err
	}
	earlier := map[postingKey]bool{}
	for _, p := range batch {
		earlier[postingKeyOf(p)] = true
		if p.Reverses == uuid.Nil {
			continue
		}
		key := postingKey{p.Platform, p.Reverses}
		original, ok := stored[key]
		if !ok && earlier[key] {
			original, ok = originals[key], true
		}
		if !ok || !p.IsReversalOf(original) {
			return fmt.Errorf("%w: %s by %s: the original does not exist or is not mirrored", ledger.ErrNotReversible, p.Reverses, p.ID)
		}
	}
	return nil
}

// postingKey identifies a posting: an id is unique within its platform.
type postingKey struct {
	platform ident.Platform
	id       uuid.UUID
}

func postingKeyOf(p ledger.Posting) postingKey { return postingKey{p.Platform, p.ID} }

func conflictError(p ledger.Posting) error {
	return fmt.Errorf("%w: %s (%s)", ledger.ErrConflict, p.ID, p.Kind)
}

// refusal says why a batch was not written: postings that exist already, postings in
// closed months with the earliest time that is allowed, and accounts that would be
// overdrawn or overflow.
type refusal struct {
	known     []postingKey
	late      map[postingKey]time.Time
	shortages []error
}

// shortageError joins the errors of all accounts into one.
func (r refusal) shortageError() error {
	var all ledger.InsufficientBalanceError
	for _, err := range r.shortages {
		var short *ledger.InsufficientBalanceError
		if !errors.As(err, &short) {
			return err
		}
		all.Shortfalls = append(all.Shortfalls, short.Shortfalls...)
	}
	return &all
}
