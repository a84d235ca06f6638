package screening

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
)

// maxShrinkage is by how much a list may shrink with one publication, in percent.
const maxShrinkage = 10

// CheckReplacement returns CONFLICT if a list has more than 10 percent fewer entries than before: its
// file may be incomplete. loaded are the lists that are screened against.
func CheckReplacement(loaded []LoadedList, next LoadedList) error {
	i := slices.IndexFunc(loaded, func(l LoadedList) bool { return l.List == next.List })
	if i < 0 || 100*next.Entries >= (100-maxShrinkage)*loaded[i].Entries {
		return nil
	}
	return fault.New(fault.Conflict, "The file has %d entries, and the list %s that is loaded has %d: more than %d percent fewer. Nothing "+
		"was changed. "+
		"The file may be incomplete; download it again, or load it with --allow-fewer if that many entries were removed.", next.Entries,
		next.List, loaded[i].Entries, maxShrinkage)
}

// Basis says what a decision relied on: the versions of the lists, and the threshold.
func (c Compared) Basis() string {
	if len(c.Lists) == 0 {
		return "compared with no sanctions list"
	}
	texts := make([]string, len(c.Lists))
	for i, l := range c.Lists {
		published := "at an unknown date"
		if !l.PublishedAt.IsZero() {
			published = l.PublishedAt.Format(time.DateOnly)
		}
		texts[i] = fmt.Sprintf("%s %s published %s", l.List, l.ID, published)
	}
	return fmt.Sprintf("compared with the sanctions lists %s; threshold %d", strings.Join(texts, ", "), c.Threshold)
}

// RunStatus is the state of a Run.
type RunStatus string

// The states.
const (
	RunRunning   RunStatus = "RUNNING"
	RunCompleted RunStatus = "COMPLETED"
	// RunReplaced: another list was loaded before the end, and its run screens all customers again.
	RunReplaced RunStatus = "REPLACED"
)

// Run is the screening of all customers of a platform after a list was loaded.
type Run struct {
	ID       uuid.UUID
	Platform ident.Platform
	ListID   uuid.UUID
	Status   RunStatus
	// After is the last customer that was screened.
	After ident.Customer
	// Total is how many customers there were at the beginning.
	Total int
	// Customers and Owners were screened so far; Hits are new or open again.
	Customers, Owners, Hits int
	StartedAt, UpdatedAt    time.Time
}

// Proceed returns a run after the next customers, of which a batch has at most max. It ends with a batch
// that is not full.
func (r Run) Proceed(customers []customer.Customer, max, owners, hits int, now time.Time) Run {
	r.Customers, r.Owners, r.Hits, r.UpdatedAt = r.Customers+len(customers), r.Owners+owners, r.Hits+hits, now
	if len(customers) < max {
		r.Status = RunCompleted
		return r
	}
	r.After = customers[len(customers)-1].ID
	return r
}
