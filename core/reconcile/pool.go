package reconcile

import (
	"cmp"
	"slices"

	"causeway/core/money"
)

// item is a line or an entry as far as matching sees it.
type item struct {
	amount int64
	day    Day
	order  int64
	keys   []string
	// known: the other side has one of its keys, so amounts alone must not pair it with
	// anything else.
	known bool
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

// pool is one side: all its items, and where to find them. Taken items stay, and are
// passed over.
type pool struct {
	items []item
	order []int // by day and order

	exact map[keyAmountDay]*queue
	equal map[keyAmount][]int
	runs  map[keySignDay]*run
	keys  map[string]struct{}
}

// queue is those that are the same in key, amount and day, in order.
type queue struct {
	of   []int
	next int
}

// run is those with a key on one day in one direction. open and sum are of those not
// taken; sum may wrap around, so what it says is verified before it counts.
type run struct {
	of   []int
	next int // all before it are taken
	open int
	sum  uint64
}

func newPool(size int) *pool {
	return &pool{
		items: make([]item, 0, size), exact: make(map[keyAmountDay]*queue, size), equal: make(map[keyAmount][]int, size),
		runs: make(map[keySignDay]*run, size), keys: make(map[string]struct{}, size),
	}
}

func (p *pool) add(i item, settled bool) {
	i.taken = settled
	p.items = append(p.items, i)
	for _, key := range i.keys {
		p.keys[key] = struct{}{}
	}
}

// known are those of the keys that some item has.
func (p *pool) known(keys []string) []string {
	var known []string
	for _, key := range keys {
		if _, there := p.keys[key]; there {
			known = append(known, key)
		}
	}
	return known
}

// know finds the items whose keys the other side has, and makes the places to find them
// by. Keys that the other side lacks find nothing, so they are left out.
func (p *pool) know(other *pool) {
	p.sort()
	for _, i := range p.order {
		it := &p.items[i]
		for _, key := range it.keys {
			if _, there := other.keys[key]; there {
				it.known = true
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
	p.equal[keyAmount{key, it.amount}] = append(p.equal[keyAmount{key, it.amount}], i)
	same := keyAmountDay{key, amountDay{it.amount, it.day}}
	if p.exact[same] == nil {
		p.exact[same] = &queue{}
	}
	p.exact[same].of = append(p.exact[same].of, i)
	with := keySignDay{key, signDay{it.amount > 0, it.day}}
	if p.runs[with] == nil {
		p.runs[with] = &run{}
	}
	r := p.runs[with]
	r.of = append(r.of, i)
	if !it.taken {
		r.open++
		r.sum += uint64(it.amount)
	}
}

func (p *pool) take(i int) {
	it := &p.items[i]
	it.taken = true
	for _, key := range it.keys {
		if r := p.runs[keySignDay{key, signDay{it.amount > 0, it.day}}]; r != nil {
			r.open--
			r.sum -= uint64(it.amount)
		}
	}
}

// open lists what is not taken, in order.
func (p *pool) open() []int {
	var open []int
	for _, i := range p.order {
		if !p.items[i].taken {
			open = append(open, i)
		}
	}
	return open
}

// first is the first open one with a key and an amount so many days from a day, the
// earlier day before the later.
func (p *pool) first(key string, amount int64, day Day, apart int) (int, bool) {
	for _, at := range []Day{day - Day(apart), day + Day(apart)} {
		q := p.exact[keyAmountDay{key, amountDay{amount, at}}]
		for q != nil && q.next < len(q.of) {
			if i := q.of[q.next]; !p.items[i].taken {
				return i, true
			}
			q.next++
		}
	}
	return 0, false
}

// addingUp finds several open ones that have a key of the item and add up to it: those
// of its own day, or else all within the window.
func (p *pool) addingUp(to item) (found []int, key string) {
	for _, key := range to.keys {
		for _, reach := range []Day{0, Window} {
			var open int
			var sum uint64
			for day := to.day - reach; day <= to.day+reach; day++ {
				if r := p.runs[keySignDay{key, signDay{to.amount > 0, day}}]; r != nil {
					open += r.open
					sum += r.sum
				}
			}
			if open < 2 || sum != uint64(to.amount) {
				continue
			}
			var those []int
			for day := to.day - reach; day <= to.day+reach; day++ {
				if r := p.runs[keySignDay{key, signDay{to.amount > 0, day}}]; r != nil {
					those = append(those, r.of...)
				}
			}
			if found := p.sumsTo(those, to.amount); found != nil {
				return found, key
			}
		}
	}
	return nil, ""
}

// sumsTo is the open ones of some, when they are several and add up to the amount.
func (p *pool) sumsTo(some []int, amount int64) []int {
	var open []int
	var sum int64
	for _, i := range some {
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

// strangers are the open ones that the other side does not know, by amount and day.
func (p *pool) strangers() map[amountDay][]int {
	found := map[amountDay][]int{}
	for _, i := range p.open() {
		if it := p.items[i]; !it.known {
			at := amountDay{it.amount, it.day}
			found[at] = append(found[at], i)
		}
	}
	return found
}

// days are the open ones that the other side does not know, by direction and day.
func (p *pool) days() map[signDay]*run {
	found := map[signDay]*run{}
	for _, i := range p.open() {
		if it := p.items[i]; !it.known {
			at := signDay{it.amount > 0, it.day}
			if found[at] == nil {
				found[at] = &run{}
			}
			found[at].of = append(found[at].of, i)
			found[at].sum += uint64(it.amount)
		}
	}
	return found
}

// near is the open one nearest to an item, within the window, that has one of its keys
// and goes in its direction.
func (p *pool) near(to item) (int, bool) {
	for apart := range Day(Window + 1) {
		for _, key := range to.keys {
			for _, day := range []Day{to.day - apart, to.day + apart} {
				r := p.runs[keySignDay{key, signDay{to.amount > 0, day}}]
				if r == nil || r.open == 0 {
					continue
				}
				for p.items[r.of[r.next]].taken {
					r.next++
				}
				return r.of[r.next], true
			}
		}
	}
	return 0, false
}
