package reconcile

import (
	"cmp"
	"slices"

	"causeway/core/money"
)

// item is a line or an entry in a comparison.
type item struct {
	amount int64
	day    Day
	order  int64
	keys   []string
	// hasSharedKey means that the other side has one of its keys, so the item is not matched by
	// amount alone.
	hasSharedKey bool
	taken        bool
}

type (
	amountDay struct {
		amount int64
		day    Day
	}
	signDay struct {
		credit bool
		day    Day
	}
	keyAmountDay struct {
		key string
		amountDay
	}
	keyAmount struct {
		key    string
		amount int64
	}
	keySignDay struct {
		key string
		signDay
	}
)

// pool has all items of one side, with indexes. Taken items stay and are skipped.
type pool struct {
	items []item
	order []int // by day and order

	byAmountAndDay map[keyAmountDay]*bucket
	byAmount       map[keyAmount][]int
	byDay          map[keySignDay]*dayGroup
	keys           map[string]struct{}
}

// bucket has the items with the same key, amount and day, in order.
type bucket struct {
	items []int
	next  int
}

// dayGroup has the items with a key on one day in one direction. open and sum are of those not
// taken. sum may wrap around, so it is verified before it is used.
type dayGroup struct {
	items []int
	next  int // all items before it are taken
	open  int
	sum   uint64
}

func newPool(size int) *pool {
	return &pool{
		items: make([]item, 0, size), byAmountAndDay: make(map[keyAmountDay]*bucket, size), byAmount: make(map[keyAmount][]int, size),
		byDay: make(map[keySignDay]*dayGroup, size), keys: make(map[string]struct{}, size),
	}
}

func (p *pool) add(i item, reconciled bool) {
	i.taken = reconciled
	p.items = append(p.items, i)
	for _, key := range i.keys {
		p.keys[key] = struct{}{}
	}
}

// sharedKeys returns those of the keys that an item in the pool has.
func (p *pool) sharedKeys(keys []string) []string {
	var known []string
	for _, key := range keys {
		if _, found := p.keys[key]; found {
			known = append(known, key)
		}
	}
	return known
}

// indexSharedKeys indexes the items by the keys that the other side has too. Other keys cannot
// match.
func (p *pool) indexSharedKeys(other *pool) {
	p.sort()
	for _, i := range p.order {
		it := &p.items[i]
		for _, key := range it.keys {
			if _, found := other.keys[key]; found {
				it.hasSharedKey = true
				p.index(i, key)
			}
		}
	}
}

func (p *pool) sort() {
	p.order = make([]int, len(p.items))
	for i := range p.items {
		p.order[i] = i
	}
	slices.SortStableFunc(p.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(p.items[a].day, p.items[b].day), cmp.Compare(p.items[a].order, p.items[b].order))
	})
}

func (p *pool) index(i int, key string) {
	it := p.items[i]
	p.byAmount[keyAmount{key, it.amount}] = append(p.byAmount[keyAmount{key, it.amount}], i)
	same := keyAmountDay{key, amountDay{it.amount, it.day}}
	if p.byAmountAndDay[same] == nil {
		p.byAmountAndDay[same] = &bucket{}
	}
	p.byAmountAndDay[same].items = append(p.byAmountAndDay[same].items, i)
	group := keySignDay{key, signDay{it.amount > 0, it.day}}
	if p.byDay[group] == nil {
		p.byDay[group] = &dayGroup{}
	}
	r := p.byDay[group]
	r.items = append(r.items, i)
	if !it.taken {
		r.open++
		r.sum += uint64(it.amount)
	}
}

func (p *pool) take(i int) {
	it := &p.items[i]
	it.taken = true
	for _, key := range it.keys {
		if r := p.byDay[keySignDay{key, signDay{it.amount > 0, it.day}}]; r != nil {
			r.open--
			r.sum -= uint64(it.amount)
		}
	}
}

// open lists the items that are not taken, in order.
func (p *pool) open() []int {
	var open []int
	for _, i := range p.order {
		if !p.items[i].taken {
			open = append(open, i)
		}
	}
	return open
}

// firstOpen returns the first open item with a key and an amount at a distance in days from a
// day, the earlier day first.
func (p *pool) firstOpen(key string, amount int64, day Day, distance int) (int, bool) {
	for _, target := range []Day{day - Day(distance), day + Day(distance)} {
		q := p.byAmountAndDay[keyAmountDay{key, amountDay{amount, target}}]
		for q != nil && q.next < len(q.items) {
			if i := q.items[q.next]; !p.items[i].taken {
				return i, true
			}
			q.next++
		}
	}
	return 0, false
}

// findSum returns several open items that have a common key with an item and add up to it: all of
// its day, or else all within the window.
func (p *pool) findSum(to item) (found []int, key string) {
	for _, key := range to.keys {
		for _, reach := range []Day{0, Window} {
			var open int
			var sum uint64
			for day := to.day - reach; day <= to.day+reach; day++ {
				if r := p.byDay[keySignDay{key, signDay{to.amount > 0, day}}]; r != nil {
					open += r.open
					sum += r.sum
				}
			}
			if open < 2 || sum != uint64(to.amount) {
				continue
			}
			var candidates []int
			for day := to.day - reach; day <= to.day+reach; day++ {
				if r := p.byDay[keySignDay{key, signDay{to.amount > 0, day}}]; r != nil {
					candidates = append(candidates, r.items...)
				}
			}
			if found := p.openSummingTo(candidates, to.amount); found != nil {
				return found, key
			}
		}
	}
	return nil, ""
}

// openSummingTo returns the open ones of some items, if they are several and add up to the amount.
func (p *pool) openSummingTo(items []int, amount int64) []int {
	var open []int
	var sum int64
	for _, i := range items {
		if p.items[i].taken {
			continue
		}
		var err error
		if sum, err = money.AddMinor(sum, p.items[i].amount); err != nil {
			return nil
		}
		open = append(open, i)
	}
	if len(open) < 2 || sum != amount {
		return nil
	}
	return open
}

// unsharedByAmountAndDay returns the open items without a shared key, by amount and day.
func (p *pool) unsharedByAmountAndDay() map[amountDay][]int {
	found := map[amountDay][]int{}
	for _, i := range p.open() {
		if it := p.items[i]; !it.hasSharedKey {
			key := amountDay{it.amount, it.day}
			found[key] = append(found[key], i)
		}
	}
	return found
}

// unsharedByDay returns the open items without a shared key, by direction and day.
func (p *pool) unsharedByDay() map[signDay]*dayGroup {
	found := map[signDay]*dayGroup{}
	for _, i := range p.open() {
		if it := p.items[i]; !it.hasSharedKey {
			key := signDay{it.amount > 0, it.day}
			if found[key] == nil {
				found[key] = &dayGroup{}
			}
			found[key].items = append(found[key].items, i)
			found[key].sum += uint64(it.amount)
		}
	}
	return found
}

// nearest returns the open item nearest to an item within the window that has a common key and the
// same direction.
func (p *pool) nearest(to item) (int, bool) {
	for distance := range Day(Window + 1) {
		for _, key := range to.keys {
			for _, day := range []Day{to.day - distance, to.day + distance} {
				r := p.byDay[keySignDay{key, signDay{to.amount > 0, day}}]
				if r == nil || r.open == 0 {
					continue
				}
				for p.items[r.items[r.next]].taken {
					r.next++
				}
				return r.items[r.next], true
			}
		}
	}
	return 0, false
}
