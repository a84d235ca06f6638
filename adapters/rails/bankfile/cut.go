package bankfile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"causeway/core/bankorder"
	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
)

// The largest sums of files in minor units: ISO 20022 has 18 digits, and Nacha 12.
const (
	maxSum    = 999_999_999_999_999_999
	maxSumACH = 999_999_999_999
)

// cut makes a file of the orders that have waited longest, are due and may leave; false if none are. What cannot be in a file does
// not stop the others, and is the error when they are done.
func (a *Adapter) cut(ctx context.Context, lease ports.Lease) (bankorder.File, bool, error) {
	queued, err := a.store.QueuedOrders(ctx, a.connection.Name)
	if err != nil {
		return bankorder.File{}, false, err
	}
	now := a.clock.Now()
	var problems []error
	for _, q := range queued {
		if !slices.Contains(a.connection.Rails, q.Rail) || !slices.Contains(a.connection.Currencies, q.Currency) {
			problems = append(problems, fmt.Errorf("%d orders of %s in %s wait, which the connection no longer carries: let it carry them again",
				q.Orders, q.Rail, q.Currency))
			continue
		}
		if !a.settings.isDue(q, now) {
			continue
		}
		f, some, err := a.store.CutFile(ctx, lease, a.cutOf(q.Rail, q.Currency, now))
		if errors.Is(err, ErrDayFull) {
			problems = append(problems, fmt.Errorf("%d orders of %s wait for tomorrow, because the files of the day have no name left: set "+
				"cutEvery to a longer time", q.Orders, q.Rail))
			continue
		}
		if some || err != nil {
			return f, some, err
		}
	}
	return bankorder.File{}, false, errors.Join(problems...)
}

// isDue reports whether a file is cut now: at the last time of day since the oldest order, or when that has waited for long
// enough or a file is full.
func (s settings) isDue(q QueuedOrders, now time.Time) bool {
	if len(s.cutAt) == 0 {
		return q.Orders >= s.maxPayments || !now.Before(q.Oldest.Add(s.cutEvery))
	}
	local := now.In(s.zone)
	for _, at := range slices.Backward(s.cutAt) {
		if time := timeOfDay(local, at); !time.After(now) {
			return !q.Oldest.After(time)
		}
	}
	return !q.Oldest.After(timeOfDay(local.AddDate(0, 0, -1), s.cutAt[len(s.cutAt)-1]))
}

// timeOfDay returns a time on the day of another, by the clock of its zone.
func timeOfDay(day time.Time, at time.Duration) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day(), int(at/time.Hour), int(at%time.Hour/time.Minute), 0, 0, day.Location())
}

func (a *Adapter) cutOf(r corridor.Rail, c money.Currency, now time.Time) FileCut {
	local := now.In(a.settings.zone)
	maxOfDay, maxSum := math.MaxInt32, int64(maxSum)
	if r == corridor.ACH {
		maxOfDay, maxSum = len(fileModifiers), maxSumACH
	}
	return FileCut{Rail: r, Currency: c, MaxOrders: a.settings.maxPayments, MaxSum: maxSum, Day: local.Format(time.DateOnly),
		MaxOfDay: maxOfDay, Now: now,
		Name: func(number int64, lost time.Time) (name, messageID string) {
			return a.settings.nameOf(a.connection.Name, r, c, local, fmt.Sprintf("%06d", number)+afterLoss(lost)),
				messageIDOf(a.connection.Name, local, number) + afterLoss(lost)
		}}
}

// nameOf returns the name of a file.
func (s settings) nameOf(connection string, r corridor.Rail, c money.Currency, day time.Time, number string) string {
	extension := "xml"
	if r == corridor.ACH {
		extension = "ach"
	}
	return strings.NewReplacer("{connection}", connection, "{number}", number, "{date}", day.Format("20060102"),
		"{rail}", string(r), "{currency}", string(c), "{extension}", extension).Replace(s.fileName)
}

// afterLoss is what tells the files of a database that has lost commits from those that it has forgotten: otherwise the bank would take
// a new file for one that it has, and what it says about that would be applied to the new one. It is of the time of the last loss, so
// that a backup can be restored twice, and empty without one.
func afterLoss(lost time.Time) string {
	if lost.IsZero() {
		return ""
	}
	const minutes, base = 36 * 36, 36 // two characters, which fit into a message id
	text := "0" + strconv.FormatInt(lost.Unix()/60%minutes, base)
	return "-" + text[len(text)-2:]
}

// longestInMessageID is how much of the name of a connection fits into a message id, with the day and the number.
const longestInMessageID = 15

// messageIDOf returns the message id of a file, at most 35 characters. The day keeps it unique for the bank if the service
// begins with number 1 again, as after its installation on another database.
func messageIDOf(connection string, day time.Time, number int64) string {
	if len(connection) > longestInMessageID {
		connection = rail.ShortID(connection)
	}
	return fmt.Sprintf("%s-%s-%d", connection, day.Format("20060102"), number)
}
