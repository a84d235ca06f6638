package receivable

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"causeway/core/money"
)

// Band is a range of ages of what is owed, in whole days since the return.
type Band string

// The bands, from the youngest.
const (
	UpTo30 Band = "0-30"
	UpTo60 Band = "31-60"
	UpTo90 Band = "61-90"
	Over90 Band = "OVER_90"
)

// Bands lists every band.
func Bands() []Band { return []Band{UpTo30, UpTo60, UpTo90, Over90} }

// BandOf returns the band of money that was returned at a time.
func BandOf(returnedAt, now time.Time) Band {
	switch days := int(now.Sub(returnedAt) / (24 * time.Hour)); {
	case days <= 30:
		return UpTo30
	case days <= 60:
		return UpTo60
	case days <= 90:
		return UpTo90
	default:
		return Over90
	}
}

// Aging is what is owed in one currency, by age.
type Aging struct {
	Currency money.Currency
	Count    int // of open receivables
	Owed     money.Total
	ByAge    map[Band]money.Total
}

// AgingOf adds up what is owed, by currency.
type AgingOf map[money.Currency]*Aging

// Add adds what one receivable owes.
func (a AgingOf) Add(currency money.Currency, owed int64, returnedAt, now time.Time) {
	if a[currency] == nil {
		a[currency] = &Aging{Currency: currency, ByAge: map[Band]money.Total{}}
	}
	sums, band, amount := a[currency], BandOf(returnedAt, now), money.TotalOf(owed)
	sums.Count++
	sums.Owed, sums.ByAge[band] = sums.Owed.Add(amount), sums.ByAge[band].Add(amount)
}

// Sorted returns the sums by currency.
func (a AgingOf) Sorted() []Aging {
	var list []Aging
	for _, sums := range slices.SortedFunc(maps.Values(a), func(x, y *Aging) int { return cmp.Compare(x.Currency, y.Currency) }) {
		list = append(list, *sums)
	}
	return list
}
