// Package ports declares what the program needs from outside, as Go interfaces, one file a
// port. It holds no logic. The comments are contracts: they say what an adapter returns,
// with which errors, and whether a call may be repeated.
//
// Rules for every port:
//   - Methods that find nothing return the fault that they name, or false if they return a
//     bool. A resource of another platform is not found.
//   - Any error that is not named in a contract is a temporary failure of the adapter; the
//     caller may try again.
//   - Batch methods return one result per argument, in the same order, unless they return a
//     map, in which what was not found is missing.
//   - Times are in UTC. Amounts are in minor units.
package ports
