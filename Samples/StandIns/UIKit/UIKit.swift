import Foundation

// As much of UIKit as the samples use, so that they are type-checked where UIKit doesn't exist.

@MainActor
open class UIView {
    public init() {}
    open var isHidden = false
    open func addSubview(_ view: UIView) {}
}

open class UILabel: UIView {
    open var text: String?
}

open class UIActivityIndicatorView: UIView {
    open func startAnimating() {}
    open func stopAnimating() {}
}

open class UIControl: UIView {
    open var isEnabled = true
}

open class UIButton: UIControl {
    public init(primaryAction: UIAction?) {}
}

open class UIRefreshControl: UIControl {
    open func endRefreshing() {}
}

@MainActor
open class UIAction {
    public init(title: String, handler: @escaping @MainActor (UIAction) -> Void) {}
}

@MainActor
open class UIResponder {
    public init() {}
}

open class UIViewController: UIResponder {
    public override init() { super.init() }
    open var view: UIView = UIView()
    open var title: String?
    open func viewDidLoad() {}
    open func viewWillAppear(_ animated: Bool) {}
    open func viewDidDisappear(_ animated: Bool) {}
    open func present(_ controller: UIViewController, animated: Bool) {}
}

@MainActor
public protocol UISearchBarDelegate: AnyObject {
    func searchBar(_ searchBar: UISearchBar, textDidChange text: String)
}

open class UISearchBar: UIView {
    open weak var delegate: (any UISearchBarDelegate)?
}

open class UITableViewCell: UIView {
    open var textLabel: UILabel?
}

open class UITableView: UIView {
    open func reloadData() {}
    open var tableHeaderView: UIView?
}

open class UITableViewController: UIViewController {
    open var tableView: UITableView = UITableView()
    open var refreshControl: UIRefreshControl?
    open func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int { 0 }
    open func tableView(_ tableView: UITableView, cellForRowAt path: IndexPath) -> UITableViewCell { UITableViewCell() }
}

open class UIAlertController: UIViewController {
    public enum Style: Sendable { case alert, actionSheet }

    public init(title: String?, message: String?, preferredStyle: Style) {}
    open func addAction(_ action: UIAlertAction) {}
}

@MainActor
open class UIAlertAction {
    public enum Style: Sendable { case `default`, cancel, destructive }

    public init(title: String?, style: Style, handler: (@MainActor (UIAlertAction) -> Void)? = nil) {}
}
