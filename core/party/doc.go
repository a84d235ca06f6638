// Package party is what is said of a person or a business wherever one appears (a
// customer, a beneficiary, an owner): names, dates, countries, addresses and ways
// to reach them, and the checks each of them must pass.
//
// A check answers with every bad field at once, by its path in the request. The
// package never decides who may do what.
package party
