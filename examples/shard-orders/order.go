package main

import "github.com/shardsnow/snow"

// An Order has a snow key: an int64 that the program makes before the insert.
type Order struct {
	ID snow.ID
	Purchase
	Lines []OrderLine
}

// An OrderLine is one thing that the buyer pays for.
type OrderLine struct {
	ID      snow.ID // set by the plugin
	OrderID snow.ID `gorm:"index"`
	Charge
}

// An AutoOrder is an order with AUTO_INCREMENT: the database makes the key.
type AutoOrder struct {
	ID int64
	Purchase
	Lines []AutoOrderLine `gorm:"foreignKey:OrderID"`
}

// An AutoOrderLine belongs to an AutoOrder.
type AutoOrderLine struct {
	ID      int64
	OrderID int64 `gorm:"index"`
	Charge
}

// A Charge is a part of the price of an order.
type Charge struct {
	Item  string `gorm:"size:100"`
	Cents int64
}

// charges returns what the buyer pays for: the goods, the shipping of a small
// order, the insurance and the courier of a large one.
func (p Purchase) charges() []Charge {
	all := []Charge{{p.Item, p.Cents}}
	if p.Cents < 50_00 {
		all = append(all, Charge{"shipping", 4_90})
	}
	if p.Cents >= 200_00 {
		all = append(all, Charge{"insurance", p.Cents / 100}, Charge{"courier", 12_50})
	}
	return all
}

func newOrder(id snow.ID, p Purchase) Order {
	o := Order{ID: id, Purchase: p}
	for _, c := range p.charges() {
		o.Lines = append(o.Lines, OrderLine{Charge: c})
	}
	return o
}

func newAutoOrders(purchases []Purchase) []AutoOrder {
	orders := make([]AutoOrder, len(purchases))
	for i, p := range purchases {
		orders[i].Purchase = p
		for _, c := range p.charges() {
			orders[i].Lines = append(orders[i].Lines, AutoOrderLine{Charge: c})
		}
	}
	return orders
}
