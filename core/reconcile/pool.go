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
	// keys are those that the other side has too. An item with some is not matched by amount alone.
	keys  []key
	taken bool
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
		key key
		amountDay
	}
	keyAmount struct {
		key    key
		amount int64
	}
	keySignDay struct {
		key key
		signDay
	}
)

// pool has all items of one side, with indexes. Taken items stay and are skipped. Each index is made
// when it is needed and has only what can be asked of it: a pool has hundreds of thousands of items.
type pool struct {
	items []item
	order []int // by day and order

	byAmountAndDay map[keyAmountDay]*bucket
	byAmount       map[keyAmount][]int
	byDay          map[keySignDay]*dayGroup
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

func newPool(size int) *pool { return &pool{items: make([]item, 0, size)} }

func (p *pool) sort() {
	p.order = make([]int, len(p.items))
	for i := range p.items {
		p.order[i] = i
	}
	slices.SortStableFunc(p.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(p.items[a].day, p.items[b].day), cmp.Compare(p.items[a].order, p.items[b].order))
	})
}

// indexByAmountAndDay makes the index of firstOpen.
func (p *pool) indexByAmountAndDay() {
	p.byAmountAndDay = map[keyAmountDay]*bucket{}
	for _, i := range p.order {
		it := p.items[i]
		if it.taken {
			continue
		}
		for _, k := range it.keys {
			same := keyAmountDay{k, amountDay{it.amount, it.day}}
			if p.byAmountAndDay[same] == nil {
				p.byAmountAndDay[same] = &bucket{}
			}
			p.byAmountAndDay[same].items = append(p.byAmountAndDay[same].items, i)
		}
	}
}

// indexByDay makes the index of findSum and nearest, for the keys of the open items of the other
// side.
func (p *pool) indexByDay(other *pool) {
	needed := map[key]bool{}
	for i := range other.items {
		if !other.items[i].taken {
			for _, k := range other.items[i].keys {
				needed[k] = true
			}
		}
	}
	p.byDay = map[keySignDay]*dayGroup{}
	for _, i := range p.order {
		it := p.items[i]
		if it.taken {
			continue
		}
		for _, k := range it.keys {
			if !needed[k] {
				continue
			}
			group := keySignDay{k, signDay{it.amount > 0, it.day}}
			if p.byDay[group] == nil {
				p.byDay[group] = &dayGroup{}
			}
			r := p.byDay[group]
			r.items = append(r.items, i)
			r.open++
			r.sum += uint64(it.amount)
		}
	}
}

// indexByAmount makes the index of findAny, for some keys and amounts.
func (p *pool) indexByAmount(needed map[keyAmount]bool) {
	p.byAmount = map[keyAmount][]int{}
	for _, i := range p.order {
		for _, k := range p.items[i].keys {
			if wanted := (keyAmount{k, p.items[i].amount}); needed[wanted] {
				p.byAmount[wanted] = append(p.byAmount[wanted], i)
			}
		}
	}
}

func (p *pool) take(i int) {
	it := &p.items[i]
	it.taken = true
	for _, k := range it.keys {
		if r := p.byDay[keySignDay{k, signDay{it.amount > 0, it.day}}]; r != nil {
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
func (p *pool) firstOpen(k key, amount int64, day Day, distance int) (int, bool) {
	for _, target := range []Day{day - Day(distance), day + Day(distance)} {
		q := p.byAmountAndDay[keyAmountDay{k, amountDay{amount, target}}]
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
func (p *pool) findSum(to item) (found []int, shared key) {
	for _, k := range to.keys {
		for _, reach := range []Day{0, Window} {
			var open int
			var sum uint64
			for day := to.day - reach; day <= to.day+reach; day++ {
				if r := p.byDay[keySignDay{k, signDay{to.amount > 0, day}}]; r != nil {
					open += r.open
					sum += r.sum
				}
			}
			if open < 2 || sum != uint64(to.amount) {
				continue
			}
			var candidates []int
			for day := to.day - reach; day <= to.day+reach; day++ {
				if r := p.byDay[keySignDay{k, signDay{to.amount > 0, day}}]; r != nil {
					candidates = append(candidates, r.items...)
				}
			}
			if found := p.openSummingTo(candidates, to.amount); found != nil {
				return found, k
			}
		}
	}
	return nil, 0
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
		if it := p.items[i]; len(it.keys) == 0 {
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
		if it := p.items[i]; len(it.keys) == 0 {
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
		for _, k := range to.keys {
			for _, day := range []Day{to.day - distance, to.day + distance} {
				r := p.byDay[keySignDay{k, signDay{to.amount > 0, day}}]
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
