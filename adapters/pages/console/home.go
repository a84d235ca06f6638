package console

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"causeway/app/payments"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/transaction"
	"causeway/ports"
)

// platformsPage lists the platforms that a person may see.
type platformsPage struct {
	page
	Platforms []platform.Platform
	// Now is what happens on those that are open, by platform; of the first maxPlatforms.
	Now map[ident.Platform]platformNow
}

// platformNow is what has happened on a platform in the last 24 hours, and how many changes wait for an approval.
type platformNow struct {
	Counts  []statusCount
	Waiting int64
}

// maxPlatforms is how many platforms are counted.
const maxPlatforms = 30

// showPlatforms lists the platforms, and goes to the only one that is open.
func (c *Console) showPlatforms(r *request) error {
	data := platformsPage{page: c.page(r, "Platforms", "")}
	for p, err := range c.Platforms.All(ports.ForAllPlatforms(r.Context())) {
		if err != nil {
			return err
		}
		if r.in.Person.May(person.View, p.ID) {
			data.Platforms = append(data.Platforms, p)
		}
	}
	slices.SortStableFunc(data.Platforms, func(a, b platform.Platform) int { return a.ClosedAt.Compare(b.ClosedAt) }) // open ones first
	only := len(data.Platforms) == 1 || len(data.Platforms) > 1 && !data.Platforms[0].Closed() && data.Platforms[1].Closed()
	if only && !r.URL.Query().Has("all") {
		return redirect(r, basePath(data.Platforms[0].ID))
	}
	data.Now = map[ident.Platform]platformNow{}
	for _, p := range data.Platforms[:min(len(data.Platforms), maxPlatforms)] {
		if p.Closed() {
			break
		}
		now, err := c.platformNow(ports.ForPlatform(r.Context(), p.ID), p.ID)
		if err != nil {
			return err
		}
		data.Now[p.ID] = now
	}
	return c.render(r, http.StatusOK, "platforms.html", data)
}

func (c *Console) platformNow(ctx context.Context, p ident.Platform) (now platformNow, err error) {
	counts, err := c.Payments.CountTransactions(ctx, p, c.lastDay())
	if err != nil {
		return now, err
	}
	now.Counts = statusCounts(counts)
	pending, err := c.Proposals.Proposals(ctx, p, ports.ProposalFilter{Paging: ports.Paging{Limit: 1}, Status: proposal.Pending})
	now.Waiting = pending.Total
	return now, err
}

// lastDay is when the last 24 hours began.
func (c *Console) lastDay() time.Time {
	return c.Clock.Now().Add(-24 * time.Hour).Truncate(time.Minute)
}

func statusCounts(counts map[transaction.Status]int64) (found []statusCount) {
	for _, status := range transaction.Statuses {
		found = append(found, statusCount{status, min(counts[status], ports.MaxTotal), counts[status] > ports.MaxTotal})
	}
	return found
}

// peoplePage lists everybody.
type peoplePage struct {
	page
	People []person.Account
}

func (c *Console) showPeople(r *request) error {
	found, err := c.People.Accounts(r.Context())
	if err != nil {
		return err
	}
	return c.render(r, http.StatusOK, "people.html", peoplePage{c.page(r, "People", "people"), found})
}

// homePage is what a platform does now.
type homePage struct {
	page
	Since   time.Time
	Counts  []statusCount
	Waiting []waiting
	Chart   chart
	// SuccessRate is that of the days of the chart, and SuccessRateNow that of the last 24 hours; empty if no payment has ended.
	SuccessRate, SuccessRateNow string
	Balances                    balances
	// Connections are what connections hold and have paid out; nil for those who may not see them.
	Connections *table
	Limits      *table // nil for none
	// Month says how long the present month is open.
	Month  string
	Latest []transaction.Transaction
}

// statusCount is the number of payments in a status.
type statusCount struct {
	Status transaction.Status
	Count  int64
	// IsMinimum: there are more.
	IsMinimum bool
}

// chartDays is the number of days of the chart.
const chartDays = 7

func (c *Console) showHome(r *request) error {
	p := r.platform.ID
	data := homePage{page: c.page(r, "Overview", "home"), Since: c.lastDay().In(r.zone().location)}
	c.refresh(r, &data.page)
	// Counting the days takes about as long as all the rest.
	var days []payments.TimeCount
	var counting errgroup.Group
	counting.Go(func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		days, err = c.Payments.CountTransactionsByDay(r.Context(), p, chartDays)
		return err
	})
	defer func() { _ = counting.Wait() }()
	counts, err := c.Payments.CountTransactions(r.Context(), p, data.Since)
	if err != nil {
		return err
	}
	data.Counts = statusCounts(counts)
	latest, err := c.Payments.ListTransactions(r.Context(), p, ports.TransactionFilter{Paging: ports.Paging{Limit: 10, WithoutTotal: true}})
	if err != nil {
		return err
	}
	data.Latest = latest.Items
	data.SuccessRateNow = successRate([]payments.TimeCount{{Counts: counts}})
	if data.Balances, err = c.balancesOf(r); err != nil {
		return err
	}
	if data.Connections, err = c.connectionLevels(r, data.page); err != nil {
		return err
	}
	if data.Limits, err = c.limitsOf(r, ident.Customer{}); err != nil {
		return err
	}
	data.Month = monthText(c.Clock.Now())
	if data.Waiting, err = c.waitingFor(r); err != nil {
		return err
	}
	if err := counting.Wait(); err != nil {
		return err
	}
	data.Chart, data.SuccessRate = newChart(days, false, time.UTC), successRate(days)
	return c.render(r, http.StatusOK, "home.html", data)
}

// monthText says how many days are left of the present month, after which it can be closed.
func monthText(now time.Time) string {
	month := period.MonthOf(now)
	end := month.Start().AddDate(0, 1, 0)
	left := int(end.Sub(now.UTC().Truncate(24*time.Hour)).Hours()) / 24
	if left == 1 {
		return month.String() + " ends today, and can be closed from tomorrow on."
	}
	return fmt.Sprintf("%s ends in %s, and can be closed then.", month, counted(left-1, "day"))
}
