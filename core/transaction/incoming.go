package transaction

import "causeway/core/fault"

// Stand is where an incoming transaction stands.
type Stand string

// The stands of an incoming transaction. The first three are all PENDING.
const (
	// Awaited: the rail is asked for the money.
	Awaited Stand = "AWAITED"
	// Asked: the platform's endpoint is asked for approval.
	Asked Stand = "ASKED"
	// Deciding: the platform said that it will decide, and has not yet.
	Deciding Stand = "DECIDING"
	// Credited: the money is in the account.
	Credited Stand = "CREDITED"
	// Declined: it never will be.
	Declined Stand = "DECLINED"
)

// Stands lists every one of them, for tests that walk the machine.
var Stands = []Stand{Awaited, Asked, Deciding, Credited, Declined}

// Arrival is what can happen to an incoming transaction.
type Arrival string

// The happenings of an incoming transaction.
const (
	// Arrive: the rail says that the money is here.
	Arrive Arrival = "ARRIVE"
	// Miss: the rail says that it will not come.
	Miss Arrival = "MISS"
	// Approve: the platform takes it.
	Approve Arrival = "APPROVE"
	// Reject: the platform does not take it, or cannot say.
	Reject Arrival = "REJECT"
	// Acknowledge: the platform will decide in a moment.
	Acknowledge Arrival = "ACKNOWLEDGE"
	// TimeOut: that moment has passed.
	TimeOut Arrival = "TIME_OUT"
)

// Arrivals lists every one of them, for tests that walk the machine.
var Arrivals = []Arrival{Arrive, Miss, Approve, Reject, Acknowledge, TimeOut}

// The table of moves of an incoming transaction. What is not in it is refused. A
// platform may decide before its endpoint has said that it will: the answer of one
// of its programs can overtake that of another.
var incomingMoves = map[Stand]map[Arrival]Stand{
	Awaited:  {Arrive: Credited, Miss: Declined},
	Asked:    {Approve: Credited, Reject: Declined, Acknowledge: Deciding},
	Deciding: {Approve: Credited, Reject: Declined, TimeOut: Declined},
}

// After is the stand after what happened, or a CONFLICT fault.
func (s Stand) After(a Arrival) (Stand, error) {
	next, ok := incomingMoves[s][a]
	if !ok {
		return s, fault.New(fault.Conflict, "an incoming transaction that is %s cannot %s", s, a)
	}
	return next, nil
}

// Stand is that of an incoming transaction.
func (t Transaction) Stand() Stand {
	switch {
	case t.State.Status == Completed:
		return Credited
	case t.State.Status != Pending:
		return Declined
	case t.Approval == nil:
		return Awaited
	case t.Approval.Until.IsZero():
		return Asked
	default:
		return Deciding
	}
}
